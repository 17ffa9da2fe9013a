/**
 * `respond`: the order is accepted with 200; `later` is the event that settles it. `fail`: accepted, not delivered,
 * refunded. `reject`: no order is made. `stall`: accepted, and the caller gets no response.
 */
export type Outcome = { readonly name: string } & (
  | {
      readonly kind: "respond";
      readonly status: "success" | "processing";
      readonly later?: LaterEvent;
      readonly minimalRecord?: true;
    }
  | { readonly kind: "fail"; readonly httpStatus: number; readonly message: string }
  | { readonly kind: "reject"; readonly httpStatus: number; readonly message: string; readonly blamesSubject?: true }
  | { readonly kind: "stall" }
);

export type LaterEvent = { readonly status: "success" | "failed"; readonly copies: number };

const success: Outcome = { name: "success", kind: "respond", status: "success" };
const insufficientBalance: Outcome = {
  name: "insufficient_balance",
  kind: "reject",
  httpStatus: 400,
  message: "Insufficient wallet balance.",
};
const unavailable: Outcome = {
  name: "unavailable",
  kind: "reject",
  httpStatus: 503,
  message: "The service is temporarily unavailable.",
};

const processing = { kind: "respond", status: "processing" } as const;

/** Source: docs/interface.md 3.4. */
const byPhoneNumber: Readonly<Record<string, Outcome>> = {
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
  "08000000005": insufficientBalance,
  "08000000006": unavailable,
  "08000000007": { name: "no_response", kind: "stall" },
  "08000000008": {
    name: "success_with_two_events",
    kind: "respond",
    status: "success",
    later: { status: "success", copies: 2 },
  },
};

/** Source: docs/interface.md 3.5. */
const byLastDigit: Readonly<Record<string, Outcome>> = {
  "1": { name: "no_record", kind: "fail", httpStatus: 404, message: "No record was found." },
  "2": {
    name: "invalid",
    kind: "reject",
    httpStatus: 422,
    message: "The given data was invalid.",
    blamesSubject: true,
  },
  "3": unavailable,
  "4": { name: "minimal_record", kind: "respond", status: "success", minimalRecord: true },
  "5": insufficientBalance,
  "6": { name: "no_response", kind: "stall" },
};

/** The outcome that the recipient's number selects; for any other number the purchase succeeds. */
export const purchaseOutcome = (phoneNumber: string): Outcome => byPhoneNumber[phoneNumber] ?? success;

/** The outcome that the last digit of `0000000000N`, or of `0800000000N` for a phone number, selects; otherwise a record is found. */
export const identityOutcome = (subject: string, isPhoneNumber: boolean): Outcome => {
  const magic = isPhoneNumber ? /^0800000000(\d)$/ : /^0{10}(\d)$/;
  const lastDigit = magic.exec(subject)?.[1];
  return (lastDigit === undefined ? undefined : byLastDigit[lastDigit]) ?? success;
};
