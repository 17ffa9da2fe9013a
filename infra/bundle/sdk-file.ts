/** The file with the SDK, beside each bundle. */
export const SDK_FILE = "aws-sdk.cjs";
