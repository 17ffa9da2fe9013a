import { CfnParameter, CliCredentialsStackSynthesizer, type IStackSynthesizer, type Stack } from "aws-cdk-lib";

/** The parameter that names the bucket with the functions' archives. */
const ASSETS_BUCKET = "AssetsBucket";

/** Names no bucket of a bootstrap, and no role of it. */
export const portableSynthesizer = (): IStackSynthesizer =>
  new CliCredentialsStackSynthesizer({ fileAssetsBucketName: ["$", `{${ASSETS_BUCKET}}`].join("") });

/**
 * Declares the only parameter of a portable template. Settings are no parameters: an update would keep their previous
 * values, and publish no version of a function whose environment another value changes.
 */
export const declareAssetsBucket = (stack: Stack): void => {
  new CfnParameter(stack, ASSETS_BUCKET, { description: "The bucket of this region with the archives of assets/" });
};
