/** A setting that the reader must correct, in one sentence that says how. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}
