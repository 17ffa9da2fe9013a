import { ServiceError } from "../contract/errors.ts";
import { mockRecord } from "./mock-record.ts";
import type { CheckOutcome, IdentityCheck, Outcome, Upstream, UpstreamOrder } from "./upstream.ts";

/**
 * Outcomes of test purchases by phone number; any other number is delivered. The simulated time-out comes at once.
 * Source: docs/interface.md 3.4, 3.5.
 */
const purchaseOutcomes: Readonly<Record<string, Outcome>> = {
  "08000000001": { kind: "refused", fields: [] },
  "08000000002": { kind: "unknown", reason: "processing", later: { status: "success", afterS: 5 } },
  "08000000003": { kind: "unknown", reason: "processing", later: { status: "failed", afterS: 5 } },
  "08000000004": { kind: "unknown", reason: "processing" },
  "08000000007": { kind: "unknown", reason: "timeout" },
  "08000000009": { kind: "unknown", reason: "processing", later: { status: "success", afterS: 5, waits: true } },
};

/** Refused before the debit: no transaction is made, and the reference is not used. */
const refusals = {
  insufficient_balance: { phoneNumber: "08000000005", digit: "5" },
  provider_unavailable: { phoneNumber: "08000000006", digit: "3" },
} as const;
const RETRY_AFTER_S = 5;

/** Outcomes of test checks by magic digit; any other number is found. */
const checkOutcomes: Readonly<Record<string, (check: IdentityCheck) => CheckOutcome>> = {
  "1": () => ({ kind: "no_record" }),
  "2": ({ idType, by }) => ({ kind: "refused", fields: ["phoneNumber" in by ? "phone_number" : idType] }),
  "4": (check) => ({ kind: "found", record: mockRecord(check, "minimal") }),
  "6": () => ({ kind: "unknown", reason: "timeout" }),
};

/** N of `0000000000N`, or of `0800000000N` for a retrieval by phone number. */
const magicDigit = ({ by }: IdentityCheck): string | undefined =>
  ("phoneNumber" in by ? /^0800000000([0-9])$/.exec(by.phoneNumber) : /^0{10}([0-9])$/.exec(by.number))?.[1];

const isMagic = (
  request: UpstreamOrder | IdentityCheck,
  { phoneNumber, digit }: (typeof refusals)[keyof typeof refusals],
): boolean => (request.kind === "identity" ? magicDigit(request) === digit : request.phoneNumber === phoneNumber);

/** The upstream of test keys. It makes no connection, so a test key cannot reach the real upstream. */
export const sandboxUpstream: Upstream = {
  baseUrl: "sandbox",
  assertReady: async (request) => {
    if (isMagic(request, refusals.insufficient_balance)) throw new ServiceError("insufficient_balance");
    if (isMagic(request, refusals.provider_unavailable)) {
      throw new ServiceError("provider_unavailable", { retryAfterS: RETRY_AFTER_S });
    }
  },
  waitS: () => 0,
  blocks: () => ({ limitUntilMs: 0, unrecognizedUntilMs: 0 }),
  learnBlocks: () => {},
  buy: async ({ phoneNumber }) => purchaseOutcomes[phoneNumber] ?? { kind: "delivered" },
  check: async (check) =>
    checkOutcomes[magicDigit(check) ?? ""]?.(check) ?? { kind: "found", record: mockRecord(check, "full") },
};
