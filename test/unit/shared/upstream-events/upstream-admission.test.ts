import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import type * as z from "#zod";
import { unusedRate } from "../../../../shared/call/result.ts";
import { ServiceError } from "../../../../shared/contract/errors.ts";
import { routes } from "../../../../shared/contract/routes.ts";
import { apiEvent, callRequest } from "../../../../shared/lambda/api-request.ts";
import { parseIpRanges } from "../../../../shared/platform/ip-range.ts";
import { rotatingSecret } from "../../../../shared/platform/rotating-secret.ts";
import type { Secret } from "../../../../shared/platform/secrets.ts";
import { eventSignature } from "../../../../shared/upstream/profile.ts";
import {
  authenticatesEvents,
  createUpstreamAdmission,
  type UpstreamAuthentication,
} from "../../../../shared/upstream-events/upstream-admission.ts";
import { anApiEvent } from "../../../builders/aws/api-event.ts";
import { aSecret } from "../../../builders/ledger/secrets.ts";

const TOKEN = "t".repeat(43);
const rotating = (current: string | undefined, previous?: string) =>
  rotatingSecret(aSecret(current), aSecret(previous));
const anAuthentication = (changes: Partial<UpstreamAuthentication> = {}): UpstreamAuthentication => ({
  pathToken: rotating(TOKEN),
  ranges: parseIpRanges("203.0.113.0/24"),
  ...changes,
});
const signedIn = (setting: z.input<typeof eventSignature>, key: string | undefined, previous?: string) => ({
  signature: { scheme: eventSignature.parse(setting), key: rotating(key, previous) },
});
const HEX = { header: "X-Webhook-Signature", encoding: "hex" } as const;

type Visit = { readonly token?: string; readonly sourceIp?: string; readonly headers?: Record<string, string> };
const BODY = '{"event":"transaction.updated"}';

const admit = (
  authentication: UpstreamAuthentication,
  { token = TOKEN, sourceIp = "203.0.113.9", headers = {} }: Visit = {},
) => {
  const path = `/v1/webhooks/upstream/${token}`;
  const event = anApiEvent({ method: "POST", path, pathParameters: { token }, sourceIp, headers, body: BODY });
  return createUpstreamAdmission(authentication)(routes.receiveUpstreamEvent, callRequest(apiEvent.parse(event)));
};
const refusalOf = (authentication: UpstreamAuthentication, visit?: Visit): Promise<unknown> =>
  admit(authentication, visit).then(
    () => undefined,
    (error: unknown) => error,
  );

/** The error code of a refusal; undefined if the request is admitted. */
const enter = async (authentication: UpstreamAuthentication, visit?: Visit): Promise<string | undefined> => {
  const error = await refusalOf(authentication, visit);
  return error instanceof ServiceError || error === undefined ? error?.code : String(error);
};

const elsewhere = { sourceIp: "203.0.114.9" };
const tokens = (current: string, previous: string) => ({ pathToken: rotating(current, previous) });
test.each<[string, Partial<UpstreamAuthentication>, Visit, string | undefined]>([
  ["the current path token from a listed address", {}, {}, undefined],
  ["the previous path token", tokens("n".repeat(43), TOKEN), {}, undefined],
  ["another path token", tokens("n".repeat(43), TOKEN), { token: "o".repeat(43) }, "not_found"],
  ["a path token of 32 characters", tokens("t".repeat(32), TOKEN), { token: "t".repeat(32) }, undefined],
  ["a previous one of 32 characters", tokens(TOKEN, "p".repeat(32)), { token: "p".repeat(32) }, undefined],
  ["a previous one of 31 characters", tokens(TOKEN, "p".repeat(31)), { token: "p".repeat(31) }, "not_found"],
  ["no token while there is no previous one", tokens(TOKEN, ""), { token: "" }, "not_found"],
  ["an address that is not listed", {}, elsewhere, "ip_not_whitelisted"],
  ["any address without a list", { ranges: [] }, elsewhere, undefined],
  ["a header where no signature is configured", {}, { headers: { "x-webhook-signature": "0".repeat(64) } }, undefined],
])("the answer to %s is right", async (_name, changes, visit, code) => {
  expect(await enter(anAuthentication(changes), visit)).toBe(code);
});

test.each([
  ["no path token", { pathToken: rotating(undefined) }, ""],
  ["a path token of 31 characters", { pathToken: rotating("t".repeat(31)) }, "t".repeat(31)],
  ["no signing key", signedIn(HEX, undefined), TOKEN],
  ["a signing key of 31 characters", signedIn(HEX, "h".repeat(31)), TOKEN],
])("an admission with %s is closed, with 503 and Retry-After 60", async (_name, changes, token) => {
  const refusal = await refusalOf(anAuthentication(changes), { token });
  expect(refusal).toMatchObject({ code: "provider_unavailable", details: { retryAfterS: 60 } });
});

test("a path without a token is not found", async () => {
  const event = anApiEvent({ method: "POST", path: "/v1/webhooks/upstream/", body: BODY });
  const entered = createUpstreamAdmission(anAuthentication())(
    routes.receiveUpstreamEvent,
    callRequest(apiEvent.parse(event)),
  );
  await expect(entered).rejects.toMatchObject({ code: "not_found" });
});

const KEY = "h".repeat(32);
const PREVIOUS_KEY = "p".repeat(32);
const hmac = (key: string, body: string, encoding: "hex" | "base64"): string =>
  createHmac("sha256", key).update(body).digest(encoding);

test.each([
  ["hexadecimal digits", HEX, hmac(KEY, BODY, "hex")],
  ["hexadecimal digits in upper case", HEX, hmac(KEY, BODY, "hex").toUpperCase()],
  ["hexadecimal digits after a prefix", { ...HEX, prefix: "sha256=" }, `sha256=${hmac(KEY, BODY, "hex")}`],
  ["Base64", { ...HEX, encoding: "base64" } as const, hmac(KEY, BODY, "base64")],
  ["the previous key's hexadecimal digits", HEX, hmac(PREVIOUS_KEY, BODY, "hex")],
])("a signature of the body as %s in the configured header is admitted", async (_name, setting, signature) => {
  const authentication = anAuthentication(signedIn({ ...setting, header: "X-Provider-Signature" }, KEY, PREVIOUS_KEY));
  expect(await enter(authentication, { headers: { "x-provider-signature": signature } })).toBeUndefined();
  expect(await enter(authentication, { headers: { "x-webhook-signature": signature } })).toBe("invalid_api_key");
});

test.each([
  ["no signature", HEX, undefined],
  ["a signature over another body", HEX, hmac(KEY, `${BODY} `, "hex")],
  ["another key's signature", HEX, hmac("o".repeat(32), BODY, "hex")],
  ["a signature in another encoding", HEX, hmac(KEY, BODY, "base64")],
  ["Base64 in another case", { ...HEX, encoding: "base64" } as const, hmac(KEY, BODY, "base64").toLowerCase()],
  ["a signature without its prefix", { ...HEX, prefix: "sha256=" }, hmac(KEY, BODY, "hex")],
])("%s is refused where signatures are configured", async (_name, setting, signature) => {
  const authentication = anAuthentication(signedIn(setting, KEY, PREVIOUS_KEY));
  const headers = { ...(signature !== undefined && { "x-webhook-signature": signature }) };
  expect(await enter(authentication, { headers })).toBe("invalid_api_key");
});

test("an admitted request is the upstream's in live mode, and uses no rate limit", async () => {
  const { group } = routes.receiveUpstreamEvent;
  expect(await admit(anAuthentication())).toEqual({
    rate: unusedRate(group),
    caller: { accountId: "upstream", keyId: "upstream", mode: "live", entitlements: {} },
  });
});

test("events are authenticated by an address list or a configured signature, not by the path token alone", () => {
  expect(authenticatesEvents(anAuthentication())).toBe(true);
  expect(authenticatesEvents(anAuthentication({ ranges: [], ...signedIn(HEX, KEY) }))).toBe(true);
  expect(authenticatesEvents(anAuthentication({ ranges: [] }))).toBe(false);
});

describe("after a rotation that this process has not seen", () => {
  /** A admission whose secrets are in Secrets Manager; the cached versions are old until they are fetched again. */
  const aRotation = () => {
    const stored = { token: "n".repeat(43), key: "m".repeat(43), isFailing: false, requests: 0 };
    const clock = { nowMs: 0 };
    const cachedSecret = (before: string, latest: () => string | undefined): Secret => {
      let cached: string | undefined = before;
      return {
        value: async () => cached,
        refetch: async () => {
          stored.requests += 1;
          if (stored.isFailing) throw new Error("Secrets Manager fails");
          cached = latest();
          return cached;
        },
      };
    };
    const pair = (before: string, latest: () => string) =>
      rotatingSecret(
        cachedSecret(before, latest),
        cachedSecret("unused".repeat(8), () => before),
        () => clock.nowMs,
      );
    const authentication = anAuthentication({
      pathToken: pair(TOKEN, () => stored.token),
      signature: { scheme: eventSignature.parse(HEX), key: pair(KEY, () => stored.key) },
    });
    const signed = (key: string) => ({ headers: { "x-webhook-signature": hmac(key, BODY, "hex") } });
    return { stored, clock, authentication, signed };
  };

  test("after a rotation the new token and the new key are admitted at once, and the previous ones still are", async () => {
    const { stored, authentication, signed } = aRotation();
    expect(await enter(authentication, { token: stored.token, ...signed(stored.key) })).toBeUndefined();
    expect(await enter(authentication, { token: TOKEN, ...signed(KEY) })).toBeUndefined();
    expect(stored.requests).toBe(4);
  });

  test("1,000 wrong tokens cause two requests to Secrets Manager in 5 s, and two more in the next", async () => {
    const { stored, clock, authentication } = aRotation();
    const wrong = () => enter(authentication, { token: "x".repeat(43) });
    const codes = await Promise.all(Array.from({ length: 1_000 }, wrong));
    expect(new Set(codes)).toEqual(new Set(["not_found"]));
    expect(stored.requests).toBe(2);
    clock.nowMs += 4_999;
    await wrong();
    expect(stored.requests).toBe(2);
    clock.nowMs += 1;
    await wrong();
    expect(stored.requests).toBe(4);
  });

  test("1,000 wrong signatures cause two requests to Secrets Manager in 5 s", async () => {
    const { stored, authentication } = aRotation();
    const wrong = () => enter(authentication, { headers: { "x-webhook-signature": "0".repeat(64) } });
    expect(new Set(await Promise.all(Array.from({ length: 1_000 }, wrong)))).toEqual(new Set(["invalid_api_key"]));
    expect(stored.requests).toBe(2);
  });

  test("concurrent events under the new token are admitted together with the first", async () => {
    const { stored, authentication, signed } = aRotation();
    const enterNew = () => enter(authentication, { token: stored.token, ...signed(stored.key) });
    expect(await Promise.all([enterNew(), enterNew(), enterNew()])).toEqual([undefined, undefined, undefined]);
    expect(stored.requests).toBe(4);
  });

  test("while Secrets Manager fails an unknown token is refused, and the known one is admitted", async () => {
    const { stored, authentication, signed } = aRotation();
    stored.isFailing = true;
    expect(await enter(authentication, { token: stored.token, ...signed(KEY) })).toBe("not_found");
    expect(await enter(authentication, { token: TOKEN, ...signed(KEY) })).toBeUndefined();
  });
});
