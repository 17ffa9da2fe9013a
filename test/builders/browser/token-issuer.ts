import { once } from "node:events";
import { createServer } from "node:https";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import * as z from "#zod";
import { selfSigned } from "../network/self-signed.ts";

/** An identity provider that issues any token. */
export type TokenIssuer = {
  /** `https://localhost:PORT`. */
  readonly issuer: string;
  /** The certificate of its TLS server: a client that reads its keys must trust it. */
  readonly certificate: string;
  /** A token of this issuer for this audience, valid for 10 minutes, with these claims. */
  readonly tokenWith: (claims: JWTPayload) => Promise<string>;
  readonly stop: () => void;
};

const KEY_ID = "first";

export const startTokenIssuer = async (audience: string): Promise<TokenIssuer> => {
  const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
  const keys = [{ ...(await exportJWK(publicKey)), kid: KEY_ID, alg: "RS256", use: "sig" }];
  const { key, cert } = selfSigned();
  const server = createServer({ key, cert }, ({ url = "" }, response) => {
    const documents: Readonly<Record<string, object>> = {
      "/.well-known/openid-configuration": { issuer, jwks_uri: `${issuer}/keys` },
      "/keys": { keys },
    };
    response.writeHead(documents[url] ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(documents[url] ?? {}));
  });
  server.listen(0, "localhost");
  await once(server, "listening");
  const issuer = `https://localhost:${z.object({ port: z.number() }).parse(server.address()).port}`;
  return {
    issuer,
    certificate: cert,
    tokenWith: (claims) => {
      const nowS = Math.floor(Date.now() / 1_000);
      const valid = { iss: issuer, aud: audience, iat: nowS - 1, exp: nowS + 600 };
      return new SignJWT({ ...valid, ...claims }).setProtectedHeader({ alg: "RS256", kid: KEY_ID }).sign(privateKey);
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
