import { createHmac, createSecretKey, hash, type KeyObject } from "node:crypto";

export type Credentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
};

const ALGORITHM = "AWS4-HMAC-SHA256";

const sha256 = (data: string): string => hash("sha256", data, "hex");
const hmac = (key: KeyObject, data: string): Buffer => createHmac("sha256", key).update(data).digest();
const derive = (key: KeyObject, data: string): KeyObject => createSecretKey(hmac(key, data));

/**
 * Signs POST requests to `/` by AWS Signature Version 4. A day's key is derived once. The names of the headers are in
 * lower case. Source: AWS, "Create a signed AWS API request".
 */
export const requestSigner = (region: string, service: string, credentials: Credentials) => {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  let signing: { readonly day: string; readonly key: KeyObject } | undefined;
  return (unsigned: Readonly<Record<string, string>>, body: string, nowMs: number): Record<string, string> => {
    const date = new Date(nowMs).toISOString().replace(/[-:]|\.\d{3}/g, "");
    const parts = [date.slice(0, 8), region, service, "aws4_request"] as const;
    const [day] = parts;
    if (signing?.day !== day) {
      signing = { day, key: parts.reduce(derive, createSecretKey(Buffer.from(`AWS4${secretAccessKey}`))) };
    }
    const headers: Record<string, string> = {
      ...unsigned,
      "x-amz-date": date,
      "x-amz-content-sha256": sha256(body),
      ...(sessionToken && { "x-amz-security-token": sessionToken }),
    };
    const names = Object.keys(headers).toSorted((one, other) => (one < other ? -1 : 1));
    const lines = names.map((name) => `${name}:${headers[name]}\n`).join("");
    const canonical = `POST\n/\n\n${lines}\n${names.join(";")}\n${headers["x-amz-content-sha256"]}`;
    const scope = parts.join("/");
    const signature = hmac(signing.key, `${ALGORITHM}\n${date}\n${scope}\n${sha256(canonical)}`).toString("hex");
    headers.authorization = `${ALGORITHM} Credential=${accessKeyId}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
    return headers;
  };
};
