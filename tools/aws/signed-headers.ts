import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { Sha256 } from "@smithy/core/checksum";
import { SignatureV4, type SignatureV4Init } from "@smithy/signature-v4";

type Signer = Pick<SignatureV4Init, "service" | "region"> & Partial<Pick<SignatureV4Init, "credentials">>;

/** The headers of a request with its signature, by default with the credentials of this process. */
export const signedHeaders = async (
  { credentials = defaultProvider(), ...signer }: Signer,
  url: URL,
  request: { readonly method: string; readonly headers?: Readonly<Record<string, string>>; readonly body?: string },
): Promise<Readonly<Record<string, string>>> => {
  const { headers } = await new SignatureV4({ ...signer, credentials, sha256: Sha256 }).sign({
    ...request,
    protocol: url.protocol,
    hostname: url.hostname,
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: { ...request.headers, host: url.host },
  });
  return headers;
};
