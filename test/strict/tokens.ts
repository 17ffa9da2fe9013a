import { createHash } from "node:crypto";

/** How long a token is valid after the first request that used it has ended. */
export const TOKEN_MS = 10 * 60_000;

type Use = {
  readonly parameters: string;
  /** Infinite while its request is at work. */
  endedAtMs: number;
  outcome: "done" | "cancelled";
};

/** What a token says about a request that carries it. */
export type TokenCheck = "new" | "in_progress" | "done" | "mismatch";

/** The tokens that transactions carried. */
export type Tokens = {
  readonly check: (token: string, parameters: unknown) => TokenCheck;
  /** A request with this token begins; returns what ends it. */
  readonly begin: (token: string, parameters: unknown) => (outcome: Use["outcome"], endsAtMs: number) => void;
};

export const newTokens = (now: () => number, cancelledBindsToken: boolean): Tokens => {
  const uses = new Map<string, Use>();
  const forgetOld = (): void => {
    // Uses are in the order of their first requests, which is nearly that of their ends.
    for (const [token, { endedAtMs }] of uses) {
      if (endedAtMs + TOKEN_MS > now()) return;
      uses.delete(token);
    }
  };
  return {
    check: (token, parameters) => {
      const use = uses.get(token);
      if (use === undefined || use.endedAtMs + TOKEN_MS <= now()) return "new";
      if (use.parameters !== digestOf(parameters)) return "mismatch";
      if (use.endedAtMs > now()) return "in_progress";
      return use.outcome === "done" ? "done" : "new";
    },
    begin: (token, parameters) => {
      forgetOld();
      const use: Use = { parameters: digestOf(parameters), endedAtMs: Number.POSITIVE_INFINITY, outcome: "cancelled" };
      uses.set(token, use);
      return (outcome, endsAtMs) => {
        use.outcome = outcome;
        use.endedAtMs = endsAtMs;
        if (outcome === "cancelled" && !cancelledBindsToken) uses.delete(token);
      };
    },
  };
};

/** The same parameters have the same digest, in whatever order their fields were written. */
const digestOf = (parameters: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(parameters, (_name, value: unknown) => (isRecord(value) ? inOrder(value) : value)))
    .digest("base64");

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const inOrder = (value: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
