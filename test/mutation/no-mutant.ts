/** While a test file is loaded, no mutant is active: that of the last run in this worker would be. */
declare global {
  var __stryker__: { activeMutant?: string | undefined } | undefined;
}
if (globalThis.__stryker__ !== undefined) globalThis.__stryker__.activeMutant = undefined;
