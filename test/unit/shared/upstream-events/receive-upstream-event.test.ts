import { describe, expect, test } from "vitest";
import { alarmIfNotJson } from "../../../../functions/receive-upstream-event/alarm-if-not-json.ts";
import type { Admit } from "../../../../shared/call/call.ts";
import { ServiceError } from "../../../../shared/contract/errors.ts";
import { ALL_ENTITLEMENTS } from "../../../../shared/contract/permission.ts";
import { receiveUpstreamEventRoutes } from "../../../../shared/contract/routes.ts";
import { upstreamEvent } from "../../../../shared/contract/upstream-event.ts";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { apiHandler } from "../../../../shared/lambda/api-handler.ts";
import { type OutcomeMessage, outcomeMessage } from "../../../../shared/orders/outcome-message.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { profileOf, type UpstreamProfile } from "../../../../shared/upstream/profile.ts";
import { eventMac, type UnsignedEvent } from "../../../../shared/upstream-events/event-mac.ts";
import { receiveUpstreamEvent } from "../../../../shared/upstream-events/receive-upstream-event.ts";
import { anApiEvent } from "../../../builders/aws/api-event.ts";
import { aLambdaContext } from "../../../builders/aws/lambda-context.ts";
import { keyedHashes } from "../../../builders/ledger/secrets.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const data = { reference: "U-1", status: "success", amount: 500.5, type: "data", phone_number: "08031234567" };

/** The response to an event, and the message that is queued. */
const receive = async (
  input: { event?: unknown; data?: unknown },
  trusted = true,
  profile: UpstreamProfile = profileOf({}),
) => {
  const queued: { message: OutcomeMessage; delayS: number }[] = [];
  const answer = await receiveUpstreamEvent({
    profile,
    outcomeQueue: { send: async (message, delayS) => void queued.push({ message, delayS }) },
    keyedHashes,
    isAuthenticated: trusted,
    clock: () => NOON_MS,
  })({ input: upstreamEvent.parse(JSON.parse(JSON.stringify(input))), deadline: deadlineIn(1_000) });
  return { answer, queued };
};
const aReport = (changes: Record<string, unknown>) => ({ event: "transaction.updated", data: { ...data, ...changes } });
/** The log lines of the rest of the test: their event and one field. */
const logged = (field = "upstream_reference") => {
  const log = captureLog();
  return () => log.lines().map((line) => [line.event, line[field]]);
};
const update = (changes: Record<string, unknown> = {}, trusted = true) => receive(aReport(changes), trusted);

describe("an event of the upstream", async () => {
  test.each([true, false])("an event is queued without its phone number (authenticated: %s)", async (trusted) => {
    const { answer, queued } = await update({}, trusted);
    expect(answer.data).toEqual({ outcome: "accepted" });
    const { phoneKey } = await keyedHashes();
    const phone = { key: phoneKey("08031234567"), masked: "0803****567" };
    const event: UnsignedEvent = {
      kind: "event",
      mode: "live",
      received_at: "2026-11-21T12:00:00.000Z",
      reference: "U-1",
      status: "success",
      type: "data",
      amount_kobo: koboFromNaira(500.5),
      phone,
    };
    const message = trusted ? { ...event, mac: eventMac(await keyedHashes(), event) } : event;
    expect(queued).toEqual([{ message, delayS: 0 }]);
  });

  test("an event came when its request did, however long the key of its hashes takes", async () => {
    let nowMs = NOON_MS;
    const queued: OutcomeMessage[] = [];
    await receiveUpstreamEvent({
      profile: profileOf({}),
      outcomeQueue: { send: async (message) => void queued.push(message) },
      keyedHashes: async () => {
        nowMs += 3_000;
        return keyedHashes();
      },
      isAuthenticated: true,
      clock: () => nowMs,
    })({ input: upstreamEvent.parse(aReport({})), deadline: deadlineIn(1_000) });
    expect(queued).toMatchObject([{ received_at: isoTime(NOON_MS) }]);
  });

  test.each(["success", "reversed"])("an event is not accepted if it cannot be queued (status %s)", async (status) => {
    const receiving = receiveUpstreamEvent({
      profile: profileOf({}),
      outcomeQueue: { send: () => Promise.reject(new Error("No answer of SQS")) },
      keyedHashes,
      isAuthenticated: true,
      clock: () => NOON_MS,
    })({ input: upstreamEvent.parse(aReport({ status })), deadline: deadlineIn(1_000) });
    await expect(receiving).rejects.toThrow("No answer of SQS");
  });

  const phone = { key: (await keyedHashes()).phoneKey("08031234567"), masked: "0803****567" };
  const OURS = "DATA_0123456789ABCDEFGHJKMNPQRS";
  test.each<readonly [sent: Record<string, unknown>, queued: Record<string, unknown>]>([
    [{ amount: 54.019999999999996 }, { amount_kobo: koboFromNaira(54.02) }],
    [{ amount: "500.00" }, { amount_kobo: koboFromNaira(500) }],
    [{ amount: " 54.02 " }, { amount_kobo: koboFromNaira(54.02) }],
    [{ amount: "0" }, { amount_kobo: koboFromNaira(0) }],
    [{ amount: "54.019999999999996" }, { amount_kobo: koboFromNaira(54.02) }],
    ...[undefined, null].map((amount) => [{ amount }, { amount_kobo: undefined }] as const),
    ...[undefined, null, 7, "x".repeat(41)].map((type) => [{ type }, { type: undefined }] as const),
    ...["constructor", "__proto__"].map((type) => [{ type }, { type }] as const),
    [{ type: "data\ud83d" }, { type: "data\ufffd" }],
    ...["success", " Success\n", "successful", "SUCCESSFUL"].map((status) => [{ status }, {}] as const),
    [{ status: "FAILED" }, { status: "failed" }],
    [{ reference: OURS.toLowerCase() }, { reference: OURS }],
    [{ reference: "other_0123456789abcdefghjkmnpqrs" }, { reference: "other_0123456789abcdefghjkmnpqrs" }],
    [{ reference: 4_711 }, { reference: "4711" }],
    ...["+2348031234567", "234 803 123 4567", " 8031234567", 8_031_234_567, 2_348_031_234_567].map(
      (phone_number) => [{ phone_number }, { phone }] as const,
    ),
    ...[undefined, null, "", -8_031_234_567, 0.5, "x".repeat(21)].map(
      (phone_number) => [{ phone_number }, { phone: undefined }] as const,
    ),
  ])("an event with %j is queued with %j, without an alarm", async (changes, expected) => {
    const alarms = logged();
    const { queued } = await update(changes, false);
    const plain = { kind: "event", mode: "live", received_at: isoTime(NOON_MS), reference: "U-1", status: "success" };
    const message = { ...plain, type: "data", amount_kobo: 500_50, phone, ...expected };
    expect(outcomeMessage.parse(queued[0]?.message)).toEqual(message);
    expect(alarms()).toEqual([]);
  });

  const wrongAmounts: readonly unknown[] = [
    0.001,
    "0.001",
    "1,500.00",
    "NGN 500",
    "500-",
    "",
    "5e2",
    {},
    { toString: 1 },
    true,
    1e22,
  ];
  test.for(wrongAmounts)(
    "an event whose amount is %j, not a whole number of kobo, is queued without an amount, and raises the alarm",
    async (amount) => {
      const alarms = logged();
      const { queued } = await update({ amount });
      expect(queued).toHaveLength(1);
      expect(queued[0]?.message).toMatchObject({ kind: "event", status: "success" });
      expect(queued[0]?.message).not.toHaveProperty("amount_kobo");
      expect(alarms()).toEqual([["transaction.amount_differs", "U-1"]]);
    },
  );

  test("the alarm about an amount has no phone number that the upstream's reference has", async () => {
    const alarms = logged();
    await update({ amount: "five", reference: "U-08031234567" });
    expect(alarms()).toEqual([["transaction.amount_differs", "U-*********67"]]);
  });

  test("a number in the type of an event is masked, so that the type fits no order", async () => {
    const { queued } = await update({ type: "data 73344556677" });
    expect(queued[0]?.message).toMatchObject({ kind: "event", type: "data *********77" });
  });

  test("an event whose reference has half of a surrogate pair, which no table takes, is kept as unreadable", async () => {
    const { queued } = await update({ reference: "U-\ud83d" });
    expect(queued[0]?.message).toMatchObject({ kind: "unreadable_event" });
    expect(queued[0]?.message).not.toHaveProperty("reference");
  });

  test("the phone number of an event is masked without halves of surrogate pairs", async () => {
    const { queued } = await update({ phone_number: "080\u{1f4f1}1234567" });
    expect(queued[0]?.message).toMatchObject({ phone: { masked: "080\ufffd****567" } });
  });

  test.each(["processing", "Pending"])("an event whose status is %s is ignored", async (status) => {
    const { answer, queued } = await update({ status, reference: undefined });
    expect(answer.data).toEqual({ outcome: "ignored" });
    expect(queued).toEqual([]);
  });

  test.each(["transaction.updated", " Transaction.Updated "])("an event named %j is known", async (event) => {
    expect((await receive({ event, data })).queued).toMatchObject([{ message: { kind: "event" } }]);
  });

  test.each(["account.updated", "transactions.updated"])(
    "an event of another subject, %s, is ignored",
    async (event) => {
      const { answer, queued } = await receive({ event, data: {} });
      expect(answer.data).toEqual({ outcome: "ignored" });
      expect(queued).toEqual([]);
    },
  );

  const unreadable: readonly (readonly [string, { event?: unknown; data?: unknown }, string | undefined])[] = [
    ["status reversed", aReport({ status: "reversed" }), "U-1"],
    ["status reversed", aReport({ status: " reversed\n" }), "U-1"],
    ["status Partially_Refunded", aReport({ status: "Partially_Refunded" }), "U-1"],
    ["status absent", aReport({ status: undefined }), "U-1"],
    ["status number", aReport({ status: 7 }), "U-1"],
    ["status text of 24 characters", aReport({ status: "Sent to Ada, 08031234567" }), "U-1"],
    ["status text of 31 characters", aReport({ status: "x".repeat(31) }), "U-1"],
    ["status text of 0 characters", aReport({ status: "" }), "U-1"],
    ["status text of 4 characters", aReport({ status: "\u001b[2J" }), "U-1"],
    ["reference absent, status failed", aReport({ reference: undefined, status: "failed" }), undefined],
    ["reference null, status success", aReport({ reference: null }), undefined],
    ["reference text of 0 characters, status success", aReport({ reference: "" }), undefined],
    ["reference text of 101 characters, status success", aReport({ reference: "x".repeat(101) }), undefined],
    ["reference number, status success", aReport({ reference: 4.7 }), undefined],
    ["reference number, status success", aReport({ reference: 2 ** 53 }), undefined],
    ["reference object, status list of 1", aReport({ reference: {}, status: ["failed"] }), undefined],
    ["amount negative, status success", aReport({ amount: -500 }), "U-1"],
    ["amount negative, status success", aReport({ amount: " -500.00" }), "U-1"],
    ["data absent", { event: "transaction.updated" }, undefined],
    ["data null", { event: "transaction.updated", data: null }, undefined],
    ["data list of 1", { event: "transaction.updated", data: [data] }, undefined],
    ["data text of 2 characters", { event: "transaction.updated", data: "{}" }, undefined],
    ["event absent, status success", { data }, "U-1"],
    ["event number, data absent", { event: 7 }, undefined],
    ["event Transaction.Reversed, status success", { event: "Transaction.Reversed", data }, "U-1"],
  ];
  test.each(unreadable)(
    "an event that cannot be read (%s) is queued as such, and accepted",
    async (problem, input, reference) => {
      const { answer, queued } = await receive(input);
      expect(answer.data).toEqual({ outcome: "accepted" });
      expect(queued).toEqual([
        {
          message: {
            kind: "unreadable_event",
            mode: "live",
            digest: expect.stringMatching(/^[\w-]{43}$/),
            ...(reference !== undefined && { reference }),
            problem,
          },
          delayS: 0,
        },
      ]);
      expect(outcomeMessage.parse(queued[0]?.message)).toEqual(queued[0]?.message);
    },
  );

  test("copies of an unreadable event have one digest, and another event has another", async () => {
    const digestOf = async (changes: Record<string, unknown>) => {
      const [sent] = (await update({ status: "reversed", ...changes })).queued;
      return sent?.message.kind === "unreadable_event" ? sent.message.digest : undefined;
    };
    const digests = [await digestOf({}), await digestOf({}), await digestOf({ amount: 1 })];
    expect(digests[0]).toBe(digests[1]);
    expect(digests[0]).not.toBe(digests[2]);
  });

  test("an unreadable event leaves no personal data in the queue", async () => {
    const name = "Adaeze";
    const { queued } = await update({ status: `Sent to ${name}`.padEnd(40), customer: name, phone_number: [name] });
    expect(queued).toHaveLength(1);
    expect(JSON.stringify(queued)).not.toContain(name);
    expect(JSON.stringify(queued)).not.toContain("0803");
  });
});

describe("a request of the upstream that is no JSON object", () => {
  const { path } = receiveUpstreamEventRoutes.receiveUpstreamEvent;
  const admit: Admit = async () => ({
    rate: { limit: 120, remaining: 120 },
    caller: { accountId: "upstream", keyId: "upstream", mode: "live", entitlements: ALL_ENTITLEMENTS },
  });
  const respondTo = async (body: string) => {
    const handler = apiHandler(receiveUpstreamEventRoutes, admit, {
      receiveUpstreamEvent: () => Promise.reject(new ServiceError("provider_unavailable")),
    }).use(alarmIfNotJson);
    const response = await handler(anApiEvent({ method: "POST", path, body, requestId: "r-1" }), aLambdaContext());
    return response.headers["x-error-code"];
  };

  test("a body that is not a JSON object is refused, and raises an alarm with the request's id", async () => {
    const lines = logged("request_id");
    expect(await respondTo("[]")).toBe("invalid_json");
    expect(lines()).toEqual([
      ["upstream_event.refused", "r-1"],
      ["request.answered", "r-1"],
    ]);
  });

  test("other refusals raise no such alarm", async () => {
    const lines = logged();
    expect(await respondTo("{}")).toBe("provider_unavailable");
    expect(lines()).toEqual([["request.answered", undefined]]);
  });
});

describe("events of a profile", () => {
  const profile = profileOf({
    events: {
      name: "Order.Changed",
      reference: "id",
      status: "state",
      amount: "price",
      type: "product",
      phone_number: "msisdn",
      types: { TopUp: "airtime" },
    },
    statuses: { success: ["completed"], failed: ["reversed"], open: ["submitted"] },
  });
  const order = { id: "U-1", price: "500.5", product: "TOPUP", msisdn: "08031234567" };
  const read = async (event: string, fields: object) => receive({ event, data: fields }, true, profile);

  test("an event is read by the profile's name, fields, words and types", async () => {
    const { queued } = await read("ORDER.changed", { ...order, state: "Completed" });
    expect(queued).toMatchObject([
      { message: { kind: "event", reference: "U-1", status: "success", type: "airtime", amount_kobo: 500_50 } },
    ]);
  });

  test("an open order and another subject are ignored, and a word or an event that the profile lacks is kept", async () => {
    for (const [event, fields] of [
      ["order.changed", { ...order, state: "submitted" }],
      ["transaction.updated", { ...order, state: "completed" }],
    ] as const) {
      expect(await read(event, fields)).toMatchObject({ answer: { data: { outcome: "ignored" } }, queued: [] });
    }
    for (const [event, fields] of [
      ["order.changed", { ...order, state: "success" }],
      ["order.reversed", { ...order, state: "reversed" }],
    ] as const) {
      expect((await read(event, fields)).queued).toMatchObject([{ message: { kind: "unreadable_event" } }]);
    }
  });
});
