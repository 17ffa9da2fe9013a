import { createHmac } from "node:crypto";
import { GenerateMacCommand } from "@aws-sdk/client-kms";
import { describe, expect, onTestFinished, test } from "vitest";
import { OutcomeUnknown, ServiceError } from "../../../../shared/contract/errors.ts";
import { ALL_ENTITLEMENTS } from "../../../../shared/contract/permission.ts";
import { verifyNin } from "../../../../shared/identity/check-identity.ts";
import { parseIdentityPrices } from "../../../../shared/identity/identity-prices.ts";
import { apiEvent, callRequest } from "../../../../shared/lambda/api-request.ts";
import { openKms, openSecretsManager } from "../../../../shared/platform/aws/sdk.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { loadKeyedHashes } from "../../../../shared/platform/keyed-hashes.ts";
import { secret } from "../../../../shared/platform/secrets.ts";
import { sandboxUpstream } from "../../../../shared/upstream/sandbox.ts";
import { IDENTITY_KEY_ARN } from "../../../../tools/local/local-aws.ts";
import { anApiEvent } from "../../../builders/aws/api-event.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { FUNDS, identityServiceForTests, pkOf, VERIFY_NIN } from "../../../builders/service/identity-service.ts";
import { aBvnCheck, aNinCheck } from "../../../builders/upstream/identity.ts";
import { FACE_VALUES, NO_PRICE_RULES } from "../../../builders/upstream/upstream-costs.ts";

const service = await identityServiceForTests();

const lengthPrefixed = (fields: readonly string[]): string =>
  fields.map((field) => `${Buffer.byteLength(field)}:${field}`).join("");

/** A hash is kept whole, or its first 16 bytes. */
const isIn = (stored: string, mac: Uint8Array): boolean =>
  stored.includes(Buffer.from(mac.subarray(0, 16)).toString("base64url").slice(0, 21));

describe("a person who holds the reference key and every item of a check, and tries each number", () => {
  const BVN = "22345678900";
  const tried = Array.from({ length: 1_000 }, (_, index) => String(Number(BVN) - 500 + index));

  test("finds nobody, and would with the key that never leaves KMS", async () => {
    const { key } = await service.newCaller({ naira: FUNDS });
    const body = aBvnCheck({ bvn: BVN, reference: "attacked" });
    const answer = await service.call("POST", "/identity/bvn/verify", { key, body });
    expect(answer.status).toBe(200);
    const items = [
      await service.itemOf("ledger", pkOf(answer)),
      await service.itemOf("ledger", `consent#${pkOf(answer)}`),
      await service.replayItemOf(answer),
    ];
    for (const item of items) expect(item).toBeDefined();
    const stored = JSON.stringify(items);

    const secrets = openSecretsManager();
    const referenceKey = (await secret(secrets, "reference-key").value()) ?? "";
    const hmac = (...fields: readonly string[]) =>
      createHmac("sha256", referenceKey).update(lengthPrefixed(fields)).digest();
    const found = tried.filter((bvn) =>
      [
        ["subject", "bvn", bvn],
        ["value", "bvn", bvn],
        ["order", "bvn_verification", "bvn", bvn, "basic"],
      ].some((fields) => isIn(stored, hmac(...fields))),
    );
    expect(found).toEqual([]);

    const kms = openKms();
    onTestFinished(() => kms.destroy());
    const hashed = async (bvn: string) => {
      const Message = Buffer.from(lengthPrefixed(["subject", "bvn", bvn]));
      const sent = new GenerateMacCommand({ KeyId: IDENTITY_KEY_ARN, MacAlgorithm: "HMAC_SHA_256", Message });
      return (await kms.send(sent)).Mac ?? new Uint8Array();
    };
    expect([isIn(stored, await hashed(BVN)), isIn(stored, await hashed("22345678901"))]).toEqual([true, false]);
  });
});

describe("while KMS does not hash", () => {
  const checkWithoutKey = (accountId: string, reference?: string) =>
    verifyNin({
      ledger: service.ledger,
      keyedHashes: loadKeyedHashes(secret(openSecretsManager(), "reference-key")),
      outcomeQueue: { send: () => Promise.reject(new Error("Nothing may be queued")) },
      gate: { purchases: async () => "on", noteOutcome: async () => {} },
      costs: FACE_VALUES,
      upstreams: { live: sandboxUpstream, test: sandboxUpstream },
      prices: NO_PRICE_RULES,
      identityPrices: parseIdentityPrices(
        JSON.stringify({
          nin: { basic: 150, advanced: 250, retrieve: 400 },
          bvn: { basic: 100, advanced: 200, retrieve: 300 },
        }),
      ),
      upstreamDates: "day-first",
      takesVirtualNin: false,
      timeZone: "Africa/Lagos",
      replays: { store: async () => {}, find: async () => undefined },
      hashSubject: () => Promise.reject(Object.assign(new Error("Rate exceeded"), { name: "ThrottlingException" })),
    })({
      input: { nin: aNinCheck().nin, mode: "basic", ...(reference !== undefined && { reference }) },
      caller: { accountId, keyId: "key_1", mode: "live", entitlements: ALL_ENTITLEMENTS },
      request: callRequest(apiEvent.parse(anApiEvent())),
      deadline: deadlineIn(6_000),
    }).catch((error: unknown) => error);

  test.each([undefined, "never-used"])(
    "a check with the reference %s is a 503 that charges nothing",
    async (reference) => {
      const log = captureLog();
      const caller = await service.newCaller({ naira: FUNDS });
      const error = await checkWithoutKey(caller.accountId, reference);
      expect(error).toBeInstanceOf(ServiceError);
      expect(error).toMatchObject({ code: "provider_unavailable", details: { retryAfterS: 5 } });
      expect(await caller.balance()).toBe(FUNDS);
      if (reference !== undefined) expect(await service.rowUnder(caller.key, reference)).toBeUndefined();
      expect(log.lines("identity_key.unusable")).toMatchObject([{ error: "ThrottlingException", Alarms: 1 }]);
    },
  );

  test("a check whose reference is used gets no error that could be read as the fate of the earlier one", async () => {
    const caller = await service.newCaller({ naira: FUNDS });
    const earlier = await service.call("POST", VERIFY_NIN, { key: caller.key, body: aNinCheck({ reference: "used" }) });
    expect(earlier.status).toBe(200);
    expect(await checkWithoutKey(caller.accountId, "used")).toBeInstanceOf(OutcomeUnknown);
    expect(await caller.balance()).toBe(FUNDS - 150);
  });
});
