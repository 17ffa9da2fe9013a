import type { Credentials } from "./signature.ts";

/** Where the calls of a service go, and who signs them. */
export type Target = { readonly endpoint: URL; readonly region: string; readonly credentials: Credentials };

/**
 * Variables of AWS without influence on a call, or with one that is followed here. Lambda sets them, except for those of
 * calls and endpoints. Source: AWS, "Defined runtime environment variables".
 */
const KNOWN =
  /^AWS_(LAMBDA_\w+|XRAY_\w+|EXECUTION_ENV|REGION|DEFAULT_REGION|ACCESS_KEY|ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|CALLS|ENDPOINT_URL_\w+)$/;
/** In these regions an endpoint is `<service>.<region>.amazonaws.com`. Source: the partition `aws` of AWS's endpoint rules. */
const REGION = /^(us|eu|ap|sa|ca|me|af|il|mx)-\w+-\d+$/;

/**
 * The target of a function on Lambda, or of a process with an emulator's endpoint; undefined if the SDK's own rules
 * count: for FIPS, dual-stack and account endpoints, other partitions, credentials that are not in the environment,
 * and whatever else a variable may change that is not known here.
 */
export const standardTarget = ({
  id,
  variable,
}: {
  readonly id: string;
  readonly variable: string;
}): Target | undefined => {
  const {
    AWS_REGION: region = "",
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  } = process.env;
  const { AWS_SESSION_TOKEN: sessionToken, AWS_LAMBDA_FUNCTION_NAME: onLambda } = process.env;
  const override = process.env[`AWS_ENDPOINT_URL_${variable}`];
  const isKnown = Object.keys(process.env).every((name) => !name.startsWith("AWS_") || KNOWN.test(name));
  if (!isKnown || !accessKeyId || !secretAccessKey || !REGION.test(region) || !(override || onLambda)) return undefined;
  const endpoint = new URL(override || `https://${id}.${region}.amazonaws.com`);
  if (endpoint.pathname !== "/" || endpoint.search !== "") return undefined;
  return { endpoint, region, credentials: { accessKeyId, secretAccessKey, sessionToken } };
};
