import { fromEnv } from "@aws-sdk/credential-provider-env";

/**
 * Takes the place of the SDK's own chain of credential providers in the bundles. Lambda hands credentials over in the
 * environment; the chain's other links (SSO, login, instance metadata) would be a fifth of each bundle.
 */
export const defaultProvider = fromEnv;
