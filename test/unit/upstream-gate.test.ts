import { expect, test } from "vitest";
import { ServiceError } from "../../shared/contract/errors.ts";
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

/** The code with which the gate refuses, or undefined where it lets in. */
const enter = async (
  gate: UpstreamGate,
  { token = TOKEN, sourceIp = "203.0.113.9" } = {},
): Promise<string | undefined> => {
  const event = anApiEvent({
    method: "POST",
    path: `/v1/webhooks/upstream/${token}`,
    pathParameters: { token },
    sourceIp,
  });
  try {
    await admitUpstream(gate)(routes.receiveStatus, apiEvent.parse(event));
    return undefined;
  } catch (error) {
    return error instanceof ServiceError ? error.code : String(error);
  }
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

test("an event is vouched for by an address list or a signing key, and not by the path alone", async () => {
  expect(await isVouchedFor(aGate())).toBe(true);
  expect(await isVouchedFor(aGate({ ranges: [], hmacKey: secretOf("h".repeat(32)) }))).toBe(true);
  expect(await isVouchedFor(aGate({ ranges: [] }))).toBe(false);
});
