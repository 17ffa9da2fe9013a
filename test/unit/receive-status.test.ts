import { describe, expect, test } from "vitest";
import { ServiceError } from "../../shared/contract/errors.ts";
import { deadlineIn } from "../../shared/platform/deadline.ts";
import { koboFromNaira } from "../../shared/platform/money.ts";
import { eventMac, type UnsignedEvent } from "../../shared/status/event-mac.ts";
import { receiveStatus } from "../../shared/status/receive-status.ts";
import type { StatusMessage } from "../../shared/status/status-queue.ts";
import { namingFrom } from "../../shared/wallet/naming.ts";

const NOON_MS = Date.parse("2026-11-21T12:00:00.000Z");
const key = "k".repeat(32);
const naming = namingFrom({ value: async () => key, refetch: async () => key });
const data = { reference: "U-1", status: "success", amount: 500.5, type: "data", phone_number: "08031234567" };

/** What is answered to an event, and what the queue is given. */
const receive = async (input: { event: string; data?: Record<string, unknown> }, trusted = true) => {
  const queued: { message: StatusMessage; delay_s: number }[] = [];
  const answer = await receiveStatus({
    statusQueue: { send: async (message, delay_s) => void queued.push({ message, delay_s }) },
    naming,
    isVouchedFor: trusted,
    clock: () => NOON_MS,
  })({ input, deadline: deadlineIn(1_000) });
  return { answer, queued };
};
const update = (changes: Record<string, unknown> = {}, trusted = true) =>
  receive({ event: "transaction.updated", data: { ...data, ...changes } }, trusted);

describe("an event of the upstream", () => {
  test.each([true, false])(
    "is queued at once as it came, without its phone number (vouched for: %s)",
    async (trusted) => {
      const { answer, queued } = await update({}, trusted);
      expect(answer.data).toEqual({ outcome: "accepted" });
      const { subject } = await naming();
      const phone = { hmac: subject("phone_number", "08031234567"), masked: "0803****567" };
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
      const message = trusted ? { ...event, mac: eventMac(await naming(), event) } : event;
      expect(queued).toEqual([{ message, delay_s: 0 }]);
    },
  );

  test("whose amount carries floating-point noise is queued with the amount in whole kobo", async () => {
    const { queued } = await update({ amount: 54.019999999999996 });
    expect(queued[0]?.message).toMatchObject({ amount_kobo: 5_402 });
  });

  test("whose amount is no whole number of kobo is queued without an amount", async () => {
    const { queued } = await update({ amount: 0.001 });
    expect(queued).toHaveLength(1);
    expect(queued[0]?.message).not.toHaveProperty("amount_kobo");
  });

  test.each([undefined, null])("whose phone number is %s is queued without one", async (phone_number) => {
    const { queued } = await update({ phone_number });
    expect(queued).toHaveLength(1);
    expect(queued[0]?.message).not.toHaveProperty("phone");
  });

  test("that we do not know is ignored, whatever it carries", async () => {
    const { answer, queued } = await receive({ event: "account.updated", data: {} });
    expect(answer.data).toEqual({ outcome: "ignored" });
    expect(queued).toEqual([]);
  });

  test.each([
    ["without data", undefined, { code: "missing_parameter", details: { fields: { data: [expect.any(String)] } } }],
    [
      "with two fields wrong",
      { ...data, status: "processing", reference: "" },
      {
        code: "validation_failed",
        details: { fields: { "data.status": [expect.any(String)], "data.reference": [expect.any(String)] } },
      },
    ],
  ])("%s is refused, and says each field", async (_name, wrong, refusal) => {
    const received = receive({ event: "transaction.updated", ...(wrong && { data: wrong }) });
    await expect(received).rejects.toBeInstanceOf(ServiceError);
    await expect(received).rejects.toMatchObject(refusal);
  });
});
