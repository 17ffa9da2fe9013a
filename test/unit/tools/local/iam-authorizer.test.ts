import { describe, expect, test } from "vitest";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { signedHeaders } from "../../../../tools/aws/signed-headers.ts";
import { iamCaller, type SignedRequest } from "../../../../tools/local/iam-authorizer.ts";
import { credentials, REGION } from "../../../../tools/local/local-aws.ts";

const url = new URL("http://127.0.0.1:3000/operations/keys/list?account=acc_1&cursor=a%2Fb%20c");
const body = '{"why":"test"}';
const signer = { service: "execute-api", region: REGION, credentials };

/** A request as it arrives, with a header that its sender did not sign. */
const signed = async (by: Parameters<typeof signedHeaders>[0] = signer): Promise<SignedRequest> => {
  const headers = await signedHeaders(by, url, { method: "POST", headers: { "x-operator-name": "ada" }, body });
  return {
    method: "POST",
    path: url.pathname,
    query: url.search.slice(1),
    headers: { ...headers, "x-forwarded-for": "127.0.0.1" },
    body: Buffer.from(body),
  };
};

test.each([0, -4 * MINUTE_MS, 4 * MINUTE_MS])(
  "a signed request whose time differs by %d ms is that of the local user",
  async (differenceMs) => {
    const caller = await iamCaller(await signed(), Date.now() + differenceMs);
    expect(caller).toMatchObject({ accountId: "000000000000", userArn: "arn:aws:iam::000000000000:user/local" });
  },
);

describe("a request that IAM authorisation refuses", () => {
  test.each([
    ["another secret", { ...signer, credentials: { ...credentials, secretAccessKey: "another" } }],
    ["another access key", { ...signer, credentials: { ...credentials, accessKeyId: "another" } }],
    ["another region", { ...signer, region: "af-south-1" }],
    ["another service", { ...signer, service: "sqs" }],
  ])("a signature with %s", async (_, by) => {
    expect(await iamCaller(await signed(by))).toBeUndefined();
  });

  test.each([-6 * MINUTE_MS, 6 * MINUTE_MS])("a time that differs by %d ms", async (differenceMs) => {
    expect(await iamCaller(await signed(), Date.now() + differenceMs)).toBeUndefined();
  });

  test.each<[string, (request: SignedRequest) => Partial<SignedRequest>]>([
    ["method", () => ({ method: "GET" })],
    ["path", () => ({ path: "/operations/keys/revoke" })],
    ["query", () => ({ query: "account=acc_2&cursor=a%2Fb%20c" })],
    ["plus for a space", ({ query }) => ({ query: query.replace("%20", "+") })],
    ["further query", ({ query }) => ({ query: `${query}&account=acc_2` })],
    ["body", () => ({ body: Buffer.from('{"why":"tess"}') })],
    ["signed header", ({ headers }) => ({ headers: { ...headers, "x-operator-name": "eve" } })],
    ["host", ({ headers }) => ({ headers: { ...headers, host: "localhost:3000" } })],
    ["unsigned header of AWS", ({ headers }) => ({ headers: { ...headers, "x-amz-security-token": "token" } })],
    ["missing header", ({ headers }) => ({ headers: { ...headers, authorization: undefined } })],
    ["malformed header", ({ headers }) => ({ headers: { ...headers, authorization: "AWS4-HMAC-SHA256" } })],
    ["missing time", ({ headers }) => ({ headers: { ...headers, "x-amz-date": undefined } })],
  ])("another %s than the signed one", async (_, change) => {
    const request = await signed();
    expect(await iamCaller({ ...request, ...change(request) })).toBeUndefined();
  });

  test("a header of the host that is not signed", async () => {
    const request = await signed();
    const authorization = request.headers.authorization?.replace("host;", "");
    expect(await iamCaller({ ...request, headers: { ...request.headers, authorization } })).toBeUndefined();
  });
});
