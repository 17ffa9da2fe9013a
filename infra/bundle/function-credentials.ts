import { fromEnv } from "@aws-sdk/credential-provider-env";

/**
 * Replaces the SDK's chain of credential providers in the bundles. Lambda passes credentials in the environment; the
 * other providers (SSO, login, instance metadata) would be a fifth of each bundle.
 */
export const defaultProvider = fromEnv;
