import { createServer } from "node:http";
import { type ActionName, type ActionOutput, actionPath, actions } from "../../shared/contract/actions/actions.ts";
import { proposedData } from "../../shared/contract/actions/proposals.ts";
import { DAY_MS, HOUR_MS } from "../../shared/contract/values/durations.ts";
import * as z from "../../shared/contract/zod.ts";
import { openDynamoDb } from "../../shared/platform/aws/sdk.ts";
import { setDailyBalances } from "../../shared/statistics/daily-balances.ts";
import { addToAccountDays, addToHours } from "../../shared/statistics/hourly-counts.ts";
import { LOOPBACK, listenOnLoopback } from "../../tools/local/loopback.ts";
import type { RunningService } from "../../tools/local/service.ts";
import { localTableNames } from "../../tools/local/tables.ts";
/** The simulator leaves orders for this number open. */
export const OPEN_PHONE = "08000000004";

/** What the pictures show. `lost`: the order whose end no event reports, so that the upstream is asked for it. */
export type Seeded = { readonly account: string; readonly reference: string; readonly lost: string };

type SentInput<Name extends ActionName> = z.input<(typeof actions)[Name]["input"]>;

/** Sends an action as the console does. Resolves with `data` of the answer. */
const send = async <Name extends ActionName>(origin: string, token: string, name: Name, input: SentInput<Name>) => {
  const response = await fetch(`${origin}${actionPath(name)}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(input),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${name}: ${response.status} ${text}`);
  return z.object({ data: z.unknown() }).parse(JSON.parse(text)).data;
};

const outputs: { readonly [Name in ActionName]: { readonly output: z.ZodMiniType<ActionOutput<Name>> } } = actions;

/** An app's endpoint. It refuses every fifth webhook. */
const startEndpoint = async (): Promise<string> => {
  let received = 0;
  const server = createServer((request, response) => {
    request.resume();
    received += 1;
    const isRefused = received % 5 === 0;
    response.writeHead(isRefused ? 503 : 200, { "content-type": "application/json", "retry-after": "5" });
    response.end(JSON.stringify({ received: !isRefused }));
  }).unref();
  return `http://${LOOPBACK}:${await listenOnLoopback(server)}/webhooks`;
};

/**
 * Fills a local service where two people agree on what moves money with accounts, orders and events, by the console's own
 * actions with the tokens of an operator and of a person in finance.
 */
export const seed = async (
  { details, simulator }: RunningService,
  tokens: { readonly operator: string; readonly finance: string },
): Promise<Seeded> => {
  if (simulator === undefined) throw new Error("The pictures need the simulator");
  const { origin } = new URL(details.base_url);
  const act = async <Name extends ActionName>(name: Name, input: SentInput<Name>): Promise<ActionOutput<Name>> =>
    outputs[name].output.parse(await send(origin, tokens.operator, name, input));
  const propose = async (input: SentInput<"wallet fund">): Promise<string> =>
    proposedData.parse(await send(origin, tokens.finance, "wallet fund", input)).proposal.proposal;
  const fund = async (input: SentInput<"wallet fund">) =>
    act("proposals approve", { proposal: await propose(input), why: "Seen on the bank's statement" });
  const control = (method: string, path: string, body: unknown) =>
    fetch(`${simulator.controlUrl}${path}`, { method, body: JSON.stringify(body) });

  for (const [name, naira] of [
    ["Savings app", 84_200],
    ["Agent network", 1_940_000],
    ["Staging", 0],
  ] as const) {
    const { account_id: account } = await act("accounts create", { name });
    if (naira > 0) await fund({ account, amount_kobo: naira * 100, id: `GTB-${name.length}041`, why: "Bank transfer" });
    await act("wallet threshold", { account, amount_kobo: 10_000_000 });
  }
  const { account_id: account } = await act("accounts create", { name: "Checkout" });
  await act("accounts entitle", { account, entitlements: { vtu: null, identity: 1_000, "identity:advanced": 100 } });
  await act("accounts owners", {
    account,
    owners: [
      { kind: "email", value: "owner@example.com" },
      { kind: "group", value: "checkout-team" },
    ],
  });
  await fund({ account, amount_kobo: 25_000_000, id: "GTB-2026-1107", why: "Bank transfer of November" });
  await act("wallet threshold", { account, amount_kobo: 5_000_000 });
  await act("ips allow", { account, ranges: ["127.0.0.1", "196.46.20.0/24", "2a05:d018::/32"] });
  await act("webhook set", { account, url: await startEndpoint() });
  await act("webhook events", { account, events: ["transaction.updated", "wallet.low"] });
  await act("keys create", { account, mode: "test", permissions: ["vtu", "identity"] });
  const old = await act("keys create", { account, mode: "live", permissions: ["vtu"] });
  await act("keys rotate", { account, key: old.key_id, overlap_ms: 7 * DAY_MS, why: "Yearly rotation" });
  const { key } = await act("keys create", { account, mode: "live", permissions: ["vtu", "identity"] });

  const call = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await fetch(`${details.base_url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    return orderSchema.safeParse(await response.json()).data?.data.transaction.reference;
  };
  const buy = (index: number, phone?: string) =>
    index % 3 === 0
      ? call("/vtu/airtime/purchase", {
          network: networks[index % 4],
          phone_number: phone ?? phoneOf(index),
          amount: 100 * (1 + (index % 9)),
          reference: `topup-${1_040 + index}`,
        })
      : call("/vtu/data/purchase", {
          network_id: 1 + (index % 4),
          plan_id: 100 * (1 + (index % 4)) + 1 + (index % 3),
          phone_number: phone ?? phoneOf(index),
          reference: `order-${1_040 + index}`,
        });

  let reference = "";
  for (let index = 0; index < 26; index += 1)
    reference = (await buy(index, index % 11 === 7 ? "08000000001" : undefined)) ?? reference;
  for (const nin of ["70345678901", "70345678902", "70345678903"]) {
    await call("/identity/nin/verify", {
      nin,
      is_consent: true,
      mode: "basic",
      purpose: "Opening a savings account",
      reference: `check-${nin.slice(-3)}`,
    });
  }
  for (const index of [30, 31, 33]) await buy(index, OPEN_PHONE);
  const lost = (await buy(32, OPEN_PHONE)) ?? "";
  for (const order of simulator.state.purchases) {
    if (order.reference === lost) simulator.state.settle(order, "success");
  }

  // An event that contradicts a delivery, and one about an order that nobody knows.
  const [settled] = simulator.state.purchases;
  await control("POST", "/events", { reference: settled?.upstreamReference, status: "failed" });
  const data = {
    reference: "UPS-88412097",
    status: "failed",
    amount: 750,
    type: "data",
    network: "GLO",
    phone_number: "08055512345",
    created_at: new Date().toISOString(),
  };
  await control("POST", "/events", { event: { event: "transaction.updated", data } });

  await control("PUT", "/faults", { faults: [{ kind: "rate_limited", path: "/vtu", retry_after_s: 300 }] });
  for (const index of [40, 41, 42, 43]) await buy(index);
  await propose({ account, amount_kobo: 50_000_000, id: "GTB-2026-1130", why: "Bank transfer of today" });
  await propose({ account, amount_kobo: 7_550_000, id: "UBA-88412", why: "Second transfer, ticket 1042" });
  await seedHistory(account);
  return { account, reference, lost };
};

const orderSchema = z.object({ data: z.object({ transaction: z.object({ reference: z.string() }) }) });
const networks = ["mtn", "airtel", "glo", "9mobile"];
const phoneOf = (index: number): string => `0803${String(4_512_367 + index * 7_919).padStart(7, "0")}`;

/** Counts of the last day and balances of the last month, which a service has after some time. */
const seedHistory = async (account: string): Promise<void> => {
  const cache = { db: openDynamoDb(), table: localTableNames.cache };
  const now = Date.now();
  const ended = Array.from({ length: 23 }, (_, hour) => {
    const endedAtMs = now - (hour + 1) * HOUR_MS;
    const busy = 12 + Math.round(10 * Math.sin(((new Date(endedAtMs).getUTCHours() - 8) / 24) * 2 * Math.PI));
    return Array.from({ length: busy * 3 }, (_, index) => ({
      type: index % 3 === 0 ? ("airtime" as const) : ("data" as const),
      network: ["MTN", "Airtel", "Glo", "9mobile"][((index * index) % 7) % 4],
      status: index % 29 === 11 ? ("failed" as const) : ("success" as const),
      amountKobo: 50_000,
      endedAtMs,
      latencyMs: [640, 910, 1_300, 2_400, 7_000][(index * 3) % 5] ?? 900,
    }));
  });
  await addToHours(cache, ended.flat());
  const ofAccount = ended.flatMap((hour, index) =>
    hour.map((order) => ({
      ...order,
      accountId: account,
      errorCode: "delivery_failed",
      endedAtMs: now - (index % 14) * DAY_MS,
    })),
  );
  await addToAccountDays({ ...cache, timeZone: "Africa/Lagos" }, ofAccount);
  let balanceKobo = 24_000_000;
  const days = Array.from({ length: 29 }, (_, day) => {
    balanceKobo -= 700_000 + ((day * 37) % 11) * 90_000;
    if (balanceKobo < 6_000_000) balanceKobo += 25_000_000;
    return { accountId: account, balanceKobo, version: day + 1, changedAtMs: now - (29 - day) * DAY_MS };
  });
  await setDailyBalances({ ...cache, timeZone: "Africa/Lagos" }, days);
};
