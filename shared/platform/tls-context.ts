import { createSecureContext, type SecureContext } from "node:tls";

/** Tests that trust a certificate of their own empty it. */
export const madeContext: { context?: SecureContext | undefined } = {};

/**
 * What TLS connections of a process have in common. Node would make one for each connection: an eighth of the CPU time
 * of a request that has a connection of its own.
 */
export const tlsContext = (): SecureContext => {
  madeContext.context ??= createSecureContext();
  return madeContext.context;
};
