/**
 * What becomes of an order. `answer`: taken and answered with 200; `later` is the event that follows.
 * `fail`: taken, not delivered, money given back. `refuse`: no order is made. `stall`: taken, never answered.
 */
export type Outcome = { name: string } & (
  | { kind: "answer"; status: "success" | "processing"; later?: LaterEvent; minimalRecord?: true }
  | { kind: "fail"; httpStatus: number; message: string }
  | { kind: "refuse"; httpStatus: number; message: string; blamesSubject?: true }
  | { kind: "stall" }
);

export type LaterEvent = { status: "success" | "failed"; copies: number };

const success: Outcome = { name: "success", kind: "answer", status: "success" };
const poor: Outcome = {
  name: "insufficient_balance",
  kind: "refuse",
  httpStatus: 400,
  message: "Insufficient wallet balance.",
};
const providerDown: Outcome = {
  name: "provider_down",
  kind: "refuse",
  httpStatus: 503,
  message: "The service is temporarily unavailable.",
};

const processing = { kind: "answer", status: "processing" } as const;

const byPhone: Readonly<Record<string, Outcome>> = {
  "08000000000": success,
  "08000000001": {
    name: "failed",
    kind: "fail",
    httpStatus: 502,
    message: "The network could not deliver this order.",
  },
  "08000000002": { name: "processing_then_success", ...processing, later: { status: "success", copies: 1 } },
  "08000000003": { name: "processing_then_failed", ...processing, later: { status: "failed", copies: 1 } },
  "08000000004": { name: "processing", ...processing },
  "08000000005": poor,
  "08000000006": providerDown,
  "08000000007": { name: "no_answer", kind: "stall" },
  "08000000008": {
    name: "success_announced_twice",
    kind: "answer",
    status: "success",
    later: { status: "success", copies: 2 },
  },
};

const byLastDigit: Readonly<Record<string, Outcome>> = {
  "1": { name: "no_record", kind: "fail", httpStatus: 404, message: "No record was found." },
  "2": {
    name: "invalid",
    kind: "refuse",
    httpStatus: 422,
    message: "The given data was invalid.",
    blamesSubject: true,
  },
  "3": providerDown,
  "4": { name: "minimal_record", kind: "answer", status: "success", minimalRecord: true },
  "5": poor,
  "6": { name: "no_answer", kind: "stall" },
};

/** Ten zeros and one digit (nin, bvn), or 0800000000 and one digit (retrieval by phone). */
const MAGIC_IDENTITY = /^(?:0{10}|0800000000)(\d)$/;

/** The outcome that a recipient's number asks for; any other number succeeds. */
export function purchaseOutcome(phoneNumber: string): Outcome {
  return byPhone[phoneNumber] ?? success;
}

/** The outcome that a nin, a bvn or a registered phone number asks for; any other number is found. */
export function identityOutcome(subject: string): Outcome {
  const lastDigit = MAGIC_IDENTITY.exec(subject)?.[1];
  return (lastDigit === undefined ? undefined : byLastDigit[lastDigit]) ?? success;
}
