import { ServiceError } from "../contract/errors.ts";
import { mockRecord } from "./mock-person.ts";
import type { CheckOutcome, IdentityCheck, Outcome, Upstream, UpstreamOrder } from "./upstream.ts";

/**
 * What a test purchase for a number comes to; any other number is delivered. The time-out row does not keep anybody waiting.
 * Source: README, "Magic values".
 */
const purchaseOutcomes: Readonly<Record<string, Outcome>> = {
  "08000000001": { kind: "refused", fields: [] },
  "08000000002": { kind: "unknown", reason: "processing", later: { status: "success", afterS: 5 } },
  "08000000003": { kind: "unknown", reason: "processing", later: { status: "failed", afterS: 5 } },
  "08000000004": { kind: "unknown", reason: "processing" },
  "08000000007": { kind: "unknown", reason: "timeout" },
};

/** What refuses a test request before the debit: no transaction is made, and no reference used. */
const refusals = {
  insufficient_balance: { phoneNumber: "08000000005", digit: "5" },
  provider_unavailable: { phoneNumber: "08000000006", digit: "3" },
} as const;
const RETRY_AFTER_S = 5;

/** What a test check comes to, by the last digit of a number whose other digits are 0; any other number is found. */
const checkOutcomes: Readonly<Record<string, (check: IdentityCheck) => CheckOutcome>> = {
  "1": () => ({ kind: "no_record" }),
  "2": ({ subject, by }) => ({ kind: "refused", fields: ["phoneNumber" in by ? "phone_number" : subject] }),
  "4": (check) => ({ kind: "found", record: mockRecord(check, "minimal") }),
  "6": () => ({ kind: "unknown", reason: "timeout" }),
};

/** The magic digit: `0000000000N`, or `0800000000N` for a retrieval by phone number. */
const magicDigit = ({ by }: IdentityCheck): string | undefined =>
  /^(?:0{10}|0800000000)([0-9])$/.exec("phoneNumber" in by ? by.phoneNumber : by.number)?.[1];

const meets = (
  request: UpstreamOrder | IdentityCheck,
  { phoneNumber, digit }: (typeof refusals)[keyof typeof refusals],
): boolean => (request.kind === "identity" ? magicDigit(request) === digit : request.phoneNumber === phoneNumber);

/** Answers test keys. It has no connection to anything, so that a test key cannot reach the upstream. */
export const sandboxUpstream: Upstream = {
  assertReady: async (request) => {
    if (meets(request, refusals.insufficient_balance)) throw new ServiceError("insufficient_balance");
    if (meets(request, refusals.provider_unavailable)) {
      throw new ServiceError("provider_unavailable", { retryAfterS: RETRY_AFTER_S });
    }
  },
  buy: async ({ phoneNumber }) => purchaseOutcomes[phoneNumber] ?? { kind: "delivered" },
  check: async (check) =>
    checkOutcomes[magicDigit(check) ?? ""]?.(check) ?? { kind: "found", record: mockRecord(check, "full") },
};
