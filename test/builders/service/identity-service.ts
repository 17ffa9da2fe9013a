import { afterEach, expect } from "vitest";
import { readTransaction } from "../../../shared/ledger/find-transactions.ts";
import { pkOfReference, type Transaction } from "../../../shared/ledger/transaction.ts";
import { localTableNames } from "../../../tools/local/tables.ts";
import type { Fault } from "../../../tools/simulator/faults.ts";
import { aNinCheck } from "../upstream/identity.ts";
import { type Answer, serviceForTests, type TestCaller, type TestService } from "./service.ts";

export const VERIFY_NIN = "/identity/nin/verify";
/** What a caller's wallet holds, in NGN. */
export const FUNDS = 1_000;

const customJson = (status: number, body: unknown): Fault => ({
  kind: "custom",
  path: "/identity",
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
export const refusal = (status: number, message = "No", errors?: Record<string, string[]>): Fault =>
  customJson(status, { status: false, message, ...(errors && { errors }) });
export const upstreamTransaction = {
  title: "NIN Verification",
  amount: 150,
  reference: "VERIFY_UP",
  status: "success",
};
/** The upstream finds this record. */
export const finding = (result: unknown, transaction: unknown = upstreamTransaction): Fault =>
  customJson(200, { status: true, message: "ok", data: { transaction, result } });

/** The key of the item of an answer's transaction. */
export const pkOf = (answer: Answer): string =>
  pkOfReference(answer.headers.get("x-transaction-reference") ?? "") ?? "none";

type Body = Readonly<Record<string, unknown>>;

/** A service for identity checks, with helpers that observe it. */
type IdentityService = TestService & {
  /** How many requests the upstream got. */
  readonly requestCount: () => number;
  readonly itemOf: (table: keyof typeof localTableNames, pk: string) => Promise<Record<string, unknown> | undefined>;
  readonly replayItemOf: (answer: Answer) => Promise<Record<string, unknown> | undefined>;
  readonly rowUnder: (key: string, reference: string) => Promise<Transaction | undefined>;
  /** Verifies a NIN once under the fault, with 1,000 NGN in the wallet. */
  readonly verifyUnder: (
    fault: Fault,
    changes?: Body,
  ) => Promise<{ readonly caller: TestCaller; readonly answer: Answer; readonly replay: () => Promise<Answer> }>;
  /** Sends a request that must be refused, and expects that it has no effect. */
  readonly refused: (
    path: string,
    body: unknown,
    options?: { readonly key?: string; readonly headers?: Record<string, string> },
  ) => Promise<Answer>;
  /** Ends all faults. */
  readonly calmDown: () => void;
};

/** One for the tests of the importing file, whose faults end with the test. */
export const identityServiceForTests = async (
  options: { readonly virtualNin?: boolean } = {},
): Promise<IdentityService> => {
  const service = await serviceForTests(options);
  const { faults, requests } = service.simulator.state;
  const itemOf: IdentityService["itemOf"] = async (table, pk) =>
    (await service.db.get({ TableName: localTableNames[table], Key: { pk } })).Item;
  const requestCount = (): number => requests.length;
  const calmDown = (): void => {
    faults.clear();
    service.proxy.fault = () => undefined;
  };
  afterEach(calmDown);
  return {
    ...service,
    requestCount,
    itemOf,
    replayItemOf: (answer) => itemOf("cache", `replay#${pkOf(answer)}`),
    rowUnder: async (key, reference) => {
      const found = await service.call("GET", `/transactions/${reference}`, { key });
      return found.status === 200 ? readTransaction(service.ledger, pkOf(found)) : undefined;
    },
    verifyUnder: async (fault, changes = {}) => {
      const caller = await service.newCaller({ naira: FUNDS });
      const body = aNinCheck(changes);
      const send = () => service.call("POST", VERIFY_NIN, { key: caller.key, body });
      faults.add(fault);
      const answer = await send();
      faults.clear();
      return { caller, answer, replay: send };
    },
    refused: async (path, body, options = {}) => {
      const caller = await service.newCaller({ naira: FUNDS });
      const before = requestCount();
      const answer = await service.call("POST", path, { key: caller.key, body, ...options });
      expect(await caller.balance()).toBe(FUNDS);
      expect(requestCount()).toBe(before);
      expect(answer.headers.get("x-transaction-reference")).toBeNull();
      return answer;
    },
    calmDown,
  };
};
