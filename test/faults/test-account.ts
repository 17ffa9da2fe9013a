import { createAccount } from "../../shared/access/accounts.ts";
import { createKey } from "../../shared/access/keys.ts";
import { ALL_ENTITLEMENTS, permissionSchema } from "../../shared/contract/permission.ts";
import type { Route } from "../../shared/contract/route.ts";
import type { Mode } from "../../shared/contract/transaction.ts";
import { koboFromNaira } from "../../shared/contract/values/money.ts";
import { fundWallet } from "../../shared/ledger/ledger-entry.ts";
import { parseIpRanges } from "../../shared/platform/ip-range.ts";
import { systemResolve } from "../../shared/webhooks/address-guard.ts";
import { setEndpoint } from "../../shared/webhooks/endpoint.ts";
import { type Receiver, startReceiver } from "../builders/webhooks/receiver.ts";
import type { SealedPeriod } from "./sealed-periods.ts";
import { now } from "./system/clock.ts";
import type { Ending } from "./system/effects.ts";
import type { Answer, System } from "./system/system.ts";

/** A request with a reference, and its answers; undefined where the service did not answer. */
export type SentRequest = {
  readonly route: Route;
  readonly mode: Mode;
  readonly body: Readonly<Record<string, unknown>> & { readonly reference: string };
  readonly answers: (Answer | undefined)[];
  readonly placedMs: number;
  /** When its first answer came, or would have come. */
  answeredMs: number;
};

/** An operator's command, which is run again until it ends. */
type Command = { readonly work: () => Promise<unknown>; ending: Ending<unknown> };

/** Where a caller receives webhooks. `path`: only those that come there fail. */
export type AppEndpoint = Receiver & { readonly failNext: (count: number, path?: string) => void };

export const openAppEndpoint = async (): Promise<AppEndpoint> => {
  let failing: { left: number; readonly path?: string | undefined } = { left: 0 };
  const receiver = await startReceiver((response) => {
    const { left, path = response.req.url } = failing;
    if (left > 0 && response.req.url === path) {
      failing.left -= 1;
      response.statusCode = 500;
    }
    response.end();
  });
  return {
    ...receiver,
    failNext: (count, path) => {
      failing = { left: count, path };
    },
  };
};

/** One account with money, keys of both modes and an endpoint, and the requests and commands for it so far. */
export type TestAccount = {
  readonly system: System;
  readonly receiver: AppEndpoint;
  readonly accountId: string;
  readonly keys: Readonly<Record<Mode, string>>;
  readonly requests: SentRequest[];
  readonly commands: Command[];
  /** Periods that were sealed, one after the other. */
  readonly sealed: SealedPeriod[];
  /** Other accounts of the same scenario: what holds for this one holds for them. */
  readonly others: TestAccount[];
  readonly send: (route: Route, body: SentRequest["body"], mode?: Mode) => Promise<SentRequest>;
  readonly resend: (request: SentRequest) => Promise<void>;
  readonly command: (work: () => Promise<unknown>) => Promise<void>;
};

/** Every account of a scenario. */
export const accountsOf = (account: TestAccount): readonly TestAccount[] => [account, ...account.others];

const FUNDED_NAIRA = 10_000;
const whitelist = ["203.0.113.7"];
/** Loopback is permitted. */
export const webhookRules = { allowed: parseIpRanges("127.0.0.0/8"), refusedHosts: [], resolve: systemResolve };

/** Creates an account, without faults. */
export const openTestAccount = async (
  system: System,
  receiver: AppEndpoint,
  naira = FUNDED_NAIRA,
): Promise<TestAccount> => {
  const { account_id: accountId } = await createAccount(system.accounts, {
    name: "test",
    whitelist,
    entitlements: ALL_ENTITLEMENTS,
  });
  await fundWallet(system.ledger, { accountId, fundingId: `first-${accountId}`, amountKobo: koboFromNaira(naira) });
  await setEndpoint(system.endpoints, webhookRules, accountId, receiver.url);
  const permissions = permissionSchema.options;
  const live = await createKey(system.accounts, accountId, { mode: "live", permissions });
  const test = await createKey(system.accounts, accountId, { mode: "test", permissions });
  const keys = { live: live.key, test: test.key };
  const requests: SentRequest[] = [];
  const commands: Command[] = [];
  const resend = async (request: SentRequest): Promise<void> => {
    const { route, mode, body, answers } = request;
    answers.push(await system.call(route, keys[mode], body));
    if (answers.length === 1) request.answeredMs = now();
  };
  return {
    system,
    receiver,
    accountId,
    keys,
    requests,
    commands,
    sealed: [],
    others: [],
    resend,
    send: async (route, body, mode = "live") => {
      const request: SentRequest = {
        route,
        mode,
        body,
        answers: [],
        placedMs: now(),
        answeredMs: Number.POSITIVE_INFINITY,
      };
      requests.push(request);
      await resend(request);
      return request;
    },
    command: async (work) => {
      commands.push({ work, ending: await system.run(work) });
    },
  };
};
