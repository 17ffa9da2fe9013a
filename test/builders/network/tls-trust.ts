import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { onTestFinished, vi } from "vitest";
import { madeContext } from "../../../shared/platform/tls-context.ts";

/** Lets this process trust a certificate until the end of the test. */
export const trustInTest = (certificate: string): void => {
  const trusted = getCACertificates("default");
  const trust = (certificates: readonly string[]): void => {
    setDefaultCACertificates(certificates);
    delete madeContext.context;
  };
  trust([...trusted, certificate]);
  onTestFinished(() => trust(trusted));
};

/** The contexts that Node makes for connections that bring none, from now until the end of the test. */
export const ownTlsContexts = () => {
  const made = vi.spyOn(process.getBuiltinModule("node:tls"), "createSecureContext");
  onTestFinished(() => made.mockRestore());
  return made;
};
