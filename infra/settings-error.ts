/** A wrong setting; the message says how to correct it. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}
