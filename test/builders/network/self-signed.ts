import { generateKeyPairSync, sign } from "node:crypto";

/** A server's key and a certificate for `localhost` that no authority signed, made anew. */
export const selfSigned = (): { readonly key: string; readonly cert: string } => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const ecdsaWithSha256 = sequence(der(0x06, Buffer.from("2a8648ce3d040302", "hex")));
  const commonName = sequence(der(0x06, Buffer.from("550403", "hex")), der(0x0c, Buffer.from("localhost")));
  const name = sequence(der(0x31, commonName));
  const validity = sequence(der(0x17, Buffer.from("200101000000Z")), der(0x17, Buffer.from("491231235959Z")));
  const body = sequence(
    der(0x02, Buffer.of(1)),
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ type: "spki", format: "der" }),
  );
  const signature = der(0x03, Buffer.concat([Buffer.of(0), sign("sha256", body, privateKey)]));
  const certificate = sequence(body, ecdsaWithSha256, signature);
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString("base64")}\n-----END CERTIFICATE-----\n`,
  };
};

/** One element of a certificate (X.690): its tag, its length, its content. */
const der = (tag: number, content: Buffer): Buffer => {
  const { length } = content;
  const header = length < 0x80 ? [tag, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(header), content]);
};
const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, Buffer.concat(parts));
