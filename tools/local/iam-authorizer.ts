import { timingSafeEqual } from "node:crypto";
import { Sha256 } from "@smithy/core/checksum";
import { SignatureV4 } from "@smithy/signature-v4";
import { ACCOUNT_ID, credentials, REGION } from "./local-aws.ts";

/** A request as it was sent: the path as encoded there, and header names in lower case. */
export type SignedRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
};

/** The user of this machine's made-up credentials. */
const USER_ARN = `arn:aws:iam::${ACCOUNT_ID}:user/local`;

/** Source: AWS, "Signature Version 4 request elements": a request arrives within 5 minutes of its time. */
const AGE_MS_MAX = 5 * 60 * 1_000;
const AUTHORIZATION = /^AWS4-HMAC-SHA256 Credential=([^, ]+), ?SignedHeaders=([^, ]+), ?Signature=([0-9a-f]{64})$/;
const AMZ_DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;
const CHECKSUM = "x-amz-content-sha256";

/**
 * IAM authorisation of API Gateway, of the one user of this machine: the signature is computed again from what was
 * sent. Resolves with what API Gateway passes to the function; undefined if the request is refused.
 */
export const iamCaller = async (request: SignedRequest, nowMs = Date.now()) => {
  const [, credential, names = "", signature = ""] = AUTHORIZATION.exec(request.headers.authorization ?? "") ?? [];
  const signed = names.split(";");
  const date = request.headers["x-amz-date"] ?? "";
  const sentMs = Date.parse(date.replace(AMZ_DATE, "$1-$2-$3T$4:$5:$6Z"));
  if (!(Math.abs(nowMs - sentMs) <= AGE_MS_MAX)) return undefined;
  const mustBeSigned = ["host", ...Object.keys(request.headers).filter((name) => name.startsWith("x-amz-"))];
  if (!mustBeSigned.every((name) => signed.includes(name))) return undefined;
  const [, ownCredential, , expected = ""] = await signAgain(request, signed, new Date(sentMs));
  if (credential !== ownCredential || signature.length !== expected.length) return undefined;
  return timingSafeEqual(Buffer.from(expected), Buffer.from(signature)) ? caller : undefined;
};

const caller = {
  accessKey: credentials.accessKeyId,
  accountId: ACCOUNT_ID,
  callerId: "local",
  cognitoIdentity: null,
  principalOrgId: null,
  userArn: USER_ARN,
  userId: "local",
};

/** The checksum of the body is always computed, because the signer would trust that of a header. */
const signAgain = async (
  { method, path, query, headers, body }: SignedRequest,
  signed: readonly string[],
  signingDate: Date,
): Promise<readonly string[]> => {
  const signer = new SignatureV4({
    service: "execute-api",
    region: REGION,
    credentials,
    sha256: Sha256,
    applyChecksum: signed.includes(CHECKSUM),
  });
  const kept = signed.filter((name) => name !== CHECKSUM).map((name) => [name, headers[name] ?? ""] as const);
  const again = await signer.sign(
    {
      method,
      protocol: "http:",
      hostname: "",
      path,
      query: valuesByName(query),
      headers: Object.fromEntries(kept),
      body,
    },
    { signingDate, signableHeaders: new Set(signed) },
  );
  return AUTHORIZATION.exec(again.headers.authorization ?? "") ?? [];
};

/** Source: AWS, "Create a signed AWS API request": a space is `%20`, so a plus stands for itself. */
const valuesByName = (query: string): Record<string, string[]> => {
  const parameters = new URLSearchParams(query.replaceAll("+", "%2B"));
  return Object.fromEntries([...new Set(parameters.keys())].map((name) => [name, parameters.getAll(name)]));
};
