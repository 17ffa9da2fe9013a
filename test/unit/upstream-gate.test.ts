import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { ServiceError } from "../../shared/contract/errors.ts";
import { rateGroups } from "../../shared/contract/limits.ts";
import { routes } from "../../shared/contract/routes.ts";
import { apiEvent } from "../../shared/platform/api-request.ts";
import { parseIpRanges } from "../../shared/platform/ip-range.ts";
import type { Secret } from "../../shared/platform/secrets.ts";
import { admitUpstream, isVouchedFor, type UpstreamGate } from "../../shared/status/upstream-gate.ts";
import { anApiEvent } from "../builders/api-event.ts";

const TOKEN = "t".repeat(43);
const secretOf = (value: string | undefined): Secret => ({ value: async () => value, refetch: async () => value });
const aGate = (changes: Partial<UpstreamGate> = {}): UpstreamGate => ({
  token: { current: secretOf(TOKEN), previous: secretOf(undefined) },
  ranges: parseIpRanges("203.0.113.0/24"),
  hmacKey: secretOf(undefined),
  ...changes,
});

type Visit = { readonly token?: string; readonly sourceIp?: string; readonly headers?: Record<string, string> };
const BODY = '{"event":"transaction.updated"}';

const admit = (gate: UpstreamGate, { token = TOKEN, sourceIp = "203.0.113.9", headers = {} }: Visit = {}) => {
  const path = `/v1/webhooks/upstream/${token}`;
  const event = anApiEvent({ method: "POST", path, pathParameters: { token }, sourceIp, headers, body: BODY });
  return admitUpstream(gate)(routes.receiveStatus, apiEvent.parse(event));
};
const refusalOf = (gate: UpstreamGate, visit?: Visit): Promise<unknown> =>
  admit(gate, visit).then(
    () => undefined,
    (error: unknown) => error,
  );

/** The code with which the gate refuses, or undefined where it lets in. */
const enter = async (gate: UpstreamGate, visit?: Visit): Promise<string | undefined> => {
  const error = await refusalOf(gate, visit);
  return error instanceof ServiceError || error === undefined ? error?.code : String(error);
};

test("the current token from a listed address enters", async () => {
  expect(await enter(aGate())).toBeUndefined();
});

test("the previous token enters while there is one, and no other does", async () => {
  const token = { current: secretOf("n".repeat(43)), previous: secretOf(TOKEN) };
  expect(await enter(aGate({ token }))).toBeUndefined();
  expect(await enter(aGate({ token }), { token: "o".repeat(43) })).toBe("not_found");
});

test.each([
  ["absent", undefined],
  ["of 31 characters", "t".repeat(31)],
])("a token that is %s closes the entrance with 503, and never opens it", async (_name, value) => {
  const gate = aGate({ token: { current: secretOf(value), previous: secretOf(undefined) } });
  expect(await enter(gate, { token: value ?? "" })).toBe("provider_unavailable");
});

test("an address beside the list is refused with 403; without a list any address enters", async () => {
  expect(await enter(aGate(), { sourceIp: "203.0.114.9" })).toBe("ip_not_whitelisted");
  expect(await enter(aGate({ ranges: [] }), { sourceIp: "203.0.114.9" })).toBeUndefined();
});

test("a signing key of 31 characters closes the entrance with 503", async () => {
  expect(await enter(aGate({ hmacKey: secretOf("h".repeat(31)) }))).toBe("provider_unavailable");
});

test.each([
  ["a token that is too short", { token: { current: secretOf("t"), previous: secretOf(undefined) } }],
  ["a signing key that is too short", { hmacKey: secretOf("h") }],
])("whom %s keeps out is told to come back in a minute", async (_name, changes) => {
  expect(await refusalOf(aGate(changes))).toMatchObject({ details: { retryAfterS: 60 } });
});

test("secrets of 32 characters are long enough", async () => {
  const token = { current: secretOf("t".repeat(32)), previous: secretOf("p".repeat(32)) };
  expect(await enter(aGate({ token }), { token: "t".repeat(32) })).toBeUndefined();
  expect(await enter(aGate({ token }), { token: "p".repeat(32) })).toBeUndefined();
});

test("a previous token of 31 characters does not enter, and an empty one neither", async () => {
  for (const previous of ["p".repeat(31), ""]) {
    const token = { current: secretOf(TOKEN), previous: secretOf(previous) };
    expect(await enter(aGate({ token }), { token: previous })).toBe("not_found");
  }
});

test("a path without a token is not found", async () => {
  const event = anApiEvent({ method: "POST", path: "/v1/webhooks/upstream/", body: BODY });
  const entered = admitUpstream(aGate())(routes.receiveStatus, apiEvent.parse(event));
  await expect(entered).rejects.toMatchObject({ code: "not_found" });
});

test("where there is a signing key only the body's own signature enters", async () => {
  const hmacKey = "h".repeat(32);
  const gate = aGate({ hmacKey: secretOf(hmacKey) });
  const signatureOf = (body: string): string => createHmac("sha256", hmacKey).update(body).digest("hex");
  const withSignature = (signature: string) => ({ headers: { "x-webhook-signature": signature } });
  expect(await enter(gate, withSignature(signatureOf(BODY)))).toBeUndefined();
  expect(await enter(gate, withSignature(signatureOf(`${BODY} `)))).toBe("invalid_api_key");
  expect(await enter(gate)).toBe("invalid_api_key");
});

test("who entered is the upstream, in live mode, and is counted against nothing", async () => {
  const { group } = routes.receiveStatus;
  expect(await admit(aGate())).toEqual({
    rate: { limit: rateGroups[group], remaining: rateGroups[group] },
    caller: { accountId: "upstream", keyId: "upstream", mode: "live" },
  });
});

test("an event is vouched for by an address list or a signing key, and not by the path alone", async () => {
  expect(await isVouchedFor(aGate())).toBe(true);
  expect(await isVouchedFor(aGate({ ranges: [], hmacKey: secretOf("h".repeat(32)) }))).toBe(true);
  expect(await isVouchedFor(aGate({ ranges: [] }))).toBe(false);
});
