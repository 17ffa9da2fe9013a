import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "#zod";
import { type ActionTable, methodOf } from "../../../shared/contract/actions/action.ts";
import {
  type ActionName,
  actionNames,
  actionPath,
  actions,
  operationPath,
} from "../../../shared/contract/actions/actions.ts";
import { ServiceError } from "../../../shared/contract/errors.ts";
import { ALL_ENTITLEMENTS } from "../../../shared/contract/permission.ts";
import { roles } from "../../../shared/contract/roles.ts";
import { DAY_MS } from "../../../shared/contract/values/durations.ts";
import { apiEvent, parseInput } from "../../../shared/lambda/api-request.ts";
import { nextToClose } from "../../../shared/periods/month-to-close.ts";
import { sleep } from "../../../shared/platform/time.ts";
import { signedHeaders } from "../../../tools/aws/signed-headers.ts";
import { type Asker, askers, permissionStatus } from "../../../tools/docs/permission-table.ts";
import { OWNER_EMAIL } from "../../../tools/local/identity-provider.ts";
import { credentials, REGION } from "../../../tools/local/local-aws.ts";
import { type RunningService, startService } from "../../../tools/local/service.ts";
import { anApiEvent } from "../../builders/aws/api-event.ts";
import { signIn } from "../../builders/browser/sign-in.ts";
import { until } from "../../builders/run/until.ts";
import { VERIFY_NIN } from "../../builders/service/identity-service.ts";
import { anOrder, BUY_DATA } from "../../builders/service/service.ts";
import { aNinCheck } from "../../builders/upstream/identity.ts";
import { type Receiver, startReceiver } from "../../builders/webhooks/receiver.ts";

type SentInput<Name extends ActionName> = z.input<(typeof actions)[Name]["input"]>;
type Answer = { readonly status: number; readonly text: string };

/** An account with what its actions need. */
type TestAccount = {
  readonly account: string;
  /** A key that no other request has used; where the request is refused, one that stays: an account has 50 at most. */
  readonly newKey: () => Promise<string>;
  readonly spareKey: string;
  /** A purchase whose webhook was delivered. */
  readonly reference: string;
  /** An identity check. */
  readonly checkReference: string;
};

type Row<Name extends ActionName> = {
  /** Valid on this account, or on the whole service. */
  readonly input: (on: TestAccount) => SentInput<Name> | Promise<SentInput<Name>>;
  /** The status where the action is allowed and the state of the service refuses it. By default 200. */
  readonly refusedWith?: 404 | 409;
  /** The own account, with something of the other one: it does not exist there. */
  readonly foreign?: (own: TestAccount, other: TestAccount) => Promise<SentInput<Name>>;
};

const why = "Test of permissions";
/** The one that can be closed while no account has existed in it. */
const CLOSED_MONTH = nextToClose({ clock: Date.now }, undefined, { timeZone: "Africa/Lagos", queueMinutes: 15 }).month;
const COMPARISON = randomUUID();
const onAccount = ({ account }: TestAccount) => ({ account });
const changeOf = ({ account }: TestAccount) => ({ account, why });
const none = () => ({});
const withReference = async ({ account }: TestAccount, { reference }: TestAccount) => ({ account, reference });

/** A row for each action; the compiler asks for one. Actions run in this order, and later ones undo earlier ones. */
const rows: { readonly [Name in ActionName]: Row<Name> } = {
  me: { input: none },
  "notifications show": { input: none },
  "notifications choose": { input: () => ({ email: [], slack: [] }) },
  "notifications list": { input: none },
  "notifications stop": { input: () => ({ person: "nobody", why }), refusedWith: 404 },
  search: { input: ({ reference }) => ({ text: reference }) },
  "accounts list": { input: none },
  "accounts show": { input: onAccount },
  "accounts create": { input: () => ({ name: "new", why }) },
  "accounts restrict": { input: changeOf },
  "accounts unrestrict": { input: changeOf },
  "accounts close": { input: changeOf, refusedWith: 409 },
  "accounts reopen": { input: changeOf, refusedWith: 409 },
  "accounts entitle": { input: ({ account }) => ({ account, entitlements: ALL_ENTITLEMENTS, why }) },
  "accounts duplicates": { input: ({ account }) => ({ account, window_s: 0, why }) },
  "accounts limits": { input: ({ account }) => ({ account, limits: {}, why }) },
  "accounts owners": {
    input: ({ account }) => ({ account, owners: [{ kind: "email", value: OWNER_EMAIL }], why }),
  },
  "access people": { input: none },
  "access review": { input: none },
  "audit account": { input: onAccount },
  "audit list": { input: none },
  "audit about": { input: ({ reference }) => ({ subject: reference }) },
  "keys list": { input: onAccount },
  "keys create": { input: ({ account }) => ({ account, mode: "test", permissions: ["vtu"], why }) },
  "keys rotate": {
    input: async ({ account, newKey }) => ({ account, key: await newKey(), overlap_ms: 0, why }),
    foreign: async ({ account }, { newKey }) => ({ account, key: await newKey(), overlap_ms: 0, why }),
  },
  "keys limits": {
    input: async ({ account, newKey }) => ({ account, key: await newKey(), limits: { day_orders: 5 }, why }),
    foreign: async ({ account }, { newKey }) => ({ account, key: await newKey(), limits: {}, why }),
  },
  "keys revoke": {
    input: async ({ account, newKey }) => ({ account, key: await newKey(), why }),
    foreign: async ({ account }, { newKey }) => ({ account, key: await newKey(), why }),
  },
  "ips list": { input: onAccount },
  "ips ranges": { input: none },
  "ips mine": { input: onAccount },
  "ips allow": { input: ({ account }) => ({ account, ranges: ["203.0.113.7"], why }) },
  "ips disallow": {
    input: async (on) => {
      await sendAs("operator", "ips allow", { account: on.account, ranges: ["203.0.113.8"], why });
      return { account: on.account, ranges: ["203.0.113.8"], why };
    },
  },
  "wallet show": { input: onAccount },
  "margin report": { input: () => ({ from: "2026-11-01", to: "2026-11-30" }) },
  "refund-clock report": { input: () => ({ from: "2026-11-01", to: "2026-11-30" }) },
  "float show": { input: none },
  "float payments": { input: none },
  "float fund": { input: () => ({ amount_kobo: 100, id: randomUUID(), why }) },
  "prices list": { input: ({ account }) => ({ account }) },
  "prices set": { input: ({ account }) => ({ account, kind: "airtime", percent: 1, why }) },
  "prices remove": { input: ({ account }) => ({ account, rule_id: "pr_0", why }), refusedWith: 409 },
  "wallet low": { input: none },
  attention: { input: none },
  "wallet threshold": { input: ({ account }) => ({ account, amount_kobo: 50_000, why }) },
  "wallet fund": { input: ({ account }) => ({ account, amount_kobo: 100, id: randomUUID(), why }) },
  "wallet adjust": { input: ({ account }) => ({ account, amount_kobo: 100, id: randomUUID(), why }) },
  "wallet reverse": { input: ({ account }) => ({ account, id: randomUUID(), why }), refusedWith: 404 },
  "wallet statement": { input: onAccount },
  "wallet verify": { input: onAccount },
  "proposals list": { input: none },
  "proposals approve": { input: () => ({ proposal: NO_PROPOSAL, why }), refusedWith: 404 },
  "proposals reject": { input: () => ({ proposal: NO_PROPOSAL, why }), refusedWith: 404 },
  "proposals break-glass": { input: () => ({ proposal: NO_PROPOSAL, why }), refusedWith: 404 },
  // No account is as old.
  "periods close": { input: () => ({ month: CLOSED_MONTH, why }) },
  "periods list": { input: none },
  "periods show": { input: () => ({ month: CLOSED_MONTH }) },
  "periods accounts": { input: () => ({ month: CLOSED_MONTH }) },
  "periods lines": { input: ({ account }) => ({ month: CLOSED_MONTH, account }), refusedWith: 404 },
  "periods verify": { input: () => ({ month: CLOSED_MONTH }) },
  "transactions list": { input: onAccount },
  "transactions show": { input: ({ account, reference }) => ({ account, reference }), foreign: withReference },
  "transactions open": { input: none },
  "transactions waiting": { input: none },
  "transactions ask": {
    input: ({ reference }) => ({ reference, why }),
    // The purchase has ended.
    refusedWith: 409,
  },
  "transactions take": {
    input: ({ reference }) => ({ reference }),
    // The purchase has ended.
    refusedWith: 409,
  },
  "transactions note": { input: ({ reference }) => ({ reference, note: why }) },
  "transactions refund": {
    input: ({ reference }) => ({ reference, why }),
    // It is a test order.
    refusedWith: 409,
  },
  "transactions resolve": {
    input: ({ reference }) => ({ reference, status: "failed", why }),
    // The purchase has ended.
    refusedWith: 409,
  },
  "consents list": { input: onAccount },
  "consents show": {
    input: ({ account, checkReference }) => ({ account, reference: checkReference }),
    foreign: async ({ account }, { checkReference }) => ({ account, reference: checkReference }),
  },
  "consents export": { input: onAccount },
  "subjects report": { input: () => ({ kind: "nin", number: "12345678999", why }) },
  "subjects erase": { input: () => ({ kind: "nin", number: "12345678999", why }) },
  "webhook list": { input: onAccount },
  "webhook show": { input: onAccount },
  // The account has an endpoint with this URL.
  "webhook add": { input: ({ account }) => ({ account, url: receiver.url, why }), refusedWith: 409 },
  "webhook set": { input: ({ account }) => ({ account, url: receiver.url, why }) },
  "webhook events": { input: ({ account }) => ({ account, events: ["wallet.low"], why }) },
  "webhook enable": { input: changeOf },
  "webhook disable": { input: changeOf },
  "webhook test": { input: changeOf },
  "webhook secret rotate": { input: changeOf },
  "webhook remove": { input: ({ account }) => ({ account, endpoint: "9", why }), refusedWith: 404 },
  "deliveries list": { input: onAccount },
  "deliveries show": { input: ({ account, reference }) => ({ account, reference }), foreign: withReference },
  "deliveries replay": {
    input: async ({ account, reference }) => {
      // It is refused while the endpoint is disabled.
      await sendAs("operator", "webhook enable", { account, why });
      return { account, reference, why };
    },
    foreign: withReference,
  },
  "deliveries recover": { input: ({ account }) => ({ account, from: "2026-01-01", why }) },
  announce: { input: () => ({ from: "2026-01-01", why }) },
  "events list": { input: none },
  "events candidates": { input: () => ({ event: NO_EVENT }), refusedWith: 404 },
  "events match": { input: ({ reference }) => ({ event: NO_EVENT, reference, why }), refusedWith: 404 },
  "events discard": { input: () => ({ event: NO_EVENT, why }), refusedWith: 404 },
  "dead-letters list": { input: none },
  "dead-letters redrive": { input: () => ({ queue: "outcomes", why }) },
  "catalog show": { input: none },
  "catalog diff": { input: none },
  "catalog accept": { input: () => ({ why }), refusedWith: 409 },
  "purchases show": { input: none },
  "purchases state": { input: onAccount },
  "purchases off": { input: () => ({ why }) },
  "purchases on": { input: () => ({ why }) },
  "upstream show": { input: none },
  "upstream probe": { input: none },
  "secrets set": { input: () => ({ name: "upstream-key", why }) },
  "secrets rotate": { input: () => ({ name: "webhook-token", why }) },
  doctor: { input: none },
  "statistics show": { input: () => ({ hours: 24 }) },
  "statistics account": { input: onAccount },
  "statistics balances": { input: onAccount },
  "reconciliation files begin": { input: () => ({ ...A_DAY, ...A_FILE, sha256: A_FILE.file, ...DAY_RANGE, why }) },
  "reconciliation files append": { input: () => ({ ...A_DAY, ...A_FILE, offset: 0, rows: [A_ROW], is_last: true }) },
  // The person who may remove it does so before others ask.
  "reconciliation files remove": {
    input: () => ({ ...NO_DAY, sha256: A_FILE.file, why }),
    refusedWith: 404,
  },
  "reconciliation rows list": { input: () => A_DAY },
  "reconciliation orders list": { input: () => ({ ...A_DAY, within_ms: 60_000 }) },
  "reconciliation cases put": {
    input: () => ({
      ...A_DAY,
      ...{ revision: 1, comparison: COMPARISON, replaces: "" },
      put: [{ case: "clock", class: "clock_differs" }],
      withdraw: [],
      totals: [],
    }),
  },
  "reconciliation cases list": { input: () => A_DAY },
  "reconciliation cases show": { input: () => ({ ...A_DAY, case: "clock" }) },
  "reconciliation cases decide": { input: () => ({ ...A_DAY, case: "clock", decision: "explained", why }) },
  "reconciliation statements list": { input: none },
  "reconciliation statements show": { input: () => A_DAY },
  // The person who may sign it off does so before others ask.
  "reconciliation statements sign": { input: () => ({ ...NO_DAY, why }), refusedWith: 404 },
  "reconciliation statements export": { input: () => NO_DAY, refusedWith: 404 },
};
const A_DAY = { day: "2026-11-21" };
const NO_DAY = { day: "2026-11-22" };
const DAY_RANGE = { from: "2026-11-20T23:00:00.000Z", to: "2026-11-21T23:00:00.000Z" };
const A_FILE = { file: "a".repeat(64) };
const A_ROW = { line: 2, amount_kobo: 500_00, status: "success" as const, at: "2026-11-21T12:00:00.000Z" };
const NO_PROPOSAL = `prop_${"0".repeat(18)}`;
const NO_EVENT = `event_${"0".repeat(24)}`;

/** Who asks: with a token, or in a role with AWS credentials. An expired token is like none. */
const awsColumns = roles.map((role) => `AWS ${role}` as const);
const columns = [...askers, ...awsColumns, "AWS stranger", "expired token", "no signature"] as const;
type Column = (typeof columns)[number];

const askerOf = (column: Exclude<Column, "no signature">): Asker => {
  if (column === "expired token") return "no token";
  if (column === "AWS stranger") return "no role";
  const role = roles.find((each) => column === `AWS ${each}`);
  return role ?? z.enum(askers).parse(column);
};

const expectedStatus = (name: ActionName, column: Column): number => {
  if (column === "no signature") return 403;
  const status = permissionStatus(actions[name], askerOf(column));
  return status === 200 ? (rows[name].refusedWith ?? 200) : status;
};

let service: RunningService;
let receiver: Receiver;
let idTokenS = DAY_MS / 1_000;
const tokens = new Map<string, string>();
let own: TestAccount;
let other: TestAccount;

type Authorization = (
  url: URL,
  request: { method: string; body?: string },
) => Promise<Readonly<Record<string, string>>>;

const send = async (path: string, name: ActionName, input: object, authorization: Authorization): Promise<Answer> => {
  const method = methodOf(actions[name]);
  const url = new URL(path, service.details.console.url);
  if (method === "GET") for (const [field, value] of Object.entries(input)) url.searchParams.set(field, String(value));
  const request = { method, ...(method === "POST" && { body: JSON.stringify(input) }) };
  const response = await fetch(url, { ...request, headers: await authorization(url, request) });
  return { status: response.status, text: await response.text() };
};

const sendRaw = (token: string | undefined, name: ActionName, input: object): Promise<Answer> =>
  send(actionPath(name), name, input, async () => ({
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }));

/** With AWS credentials: those of this machine, or none. */
const sendSigned = (column: string, name: ActionName, input: object): Promise<Answer> => {
  const role = roles.find((each) => column === `AWS ${each}`) ?? "operator";
  const path = operationPath(role, name).replace("/operator/", column === "AWS stranger" ? "/stranger/" : "/operator/");
  return send(path, name, input, async (url, request) =>
    column === "no signature"
      ? {}
      : signedHeaders({ service: "execute-api", region: REGION, credentials }, url, request),
  );
};

const sendAs = <Name extends ActionName>(who: string, name: Name, input: SentInput<Name>): Promise<Answer> =>
  sendRaw(tokens.get(who), name, input);

/** `data` of an operator's successful action. */
const operate = async <Name extends ActionName>(name: Name, input: SentInput<Name>) => {
  const { status, text } = await sendAs("operator", name, input);
  if (status !== 200) throw new Error(`${name}: ${status} ${text}`);
  return z.object({ data: z.record(z.string(), z.unknown()) }).parse(JSON.parse(text)).data;
};

const prepareAccount = async (ownerEmail: string): Promise<TestAccount> => {
  const account = z.string().parse((await operate("accounts create", { name: "test", why })).account_id);
  await operate("accounts entitle", { account, entitlements: ALL_ENTITLEMENTS, why });
  await operate("accounts owners", { account, owners: [{ kind: "email", value: ownerEmail }], why });
  await operate("ips allow", { account, ranges: ["127.0.0.1"], why });
  await operate("webhook set", { account, url: receiver.url, why });
  const createKey = () => operate("keys create", { account, mode: "test", why });
  const { key } = await createKey();
  const order = async (path: string, body: unknown): Promise<string> => {
    const answer = await fetch(`${service.details.base_url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
    return z.string().parse(answer.headers.get("x-transaction-reference"));
  };
  return {
    account,
    newKey: async () => z.string().parse((await createKey()).key_id),
    spareKey: z.string().parse((await createKey()).key_id),
    reference: await order(BUY_DATA, anOrder({ reference: `order-${account}` })),
    checkReference: await order(VERIFY_NIN, aNinCheck()),
  };
};

beforeAll(async () => {
  receiver = await startReceiver();
  service = await startService({ idTokenS: () => idTokenS });
  const { console } = service.details;
  for (const person of [...roles, "owner", "visitor"] as const) {
    tokens.set(person, await signIn(console, person));
  }
  idTokenS = 1;
  tokens.set("expired operator", await signIn(console, "operator"));
  [own, other] = [await prepareAccount(OWNER_EMAIL), await prepareAccount("other@example.com")];
  const arrived = () => receiver.received.map(({ body }) => body).join();
  const both = () => [own, other].every(({ reference }) => arrived().includes(reference));
  await until("both webhooks arrived", both);
  await sleep(1_000);
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

/** Who asks in each other column; nobody without a token. */
const people: Readonly<Record<string, string>> = {
  "other owner": "owner",
  "no role": "visitor",
  "no token": "nobody",
  "expired token": "expired operator",
};

/**
 * The first action of each row of the table in docs/operations.md. What allows an action gets its scope and roles alone
 * (`authorise`), so one action shows what every column of its row gets.
 */
const firstOfRow = new Set(
  [
    ...Map.groupBy(actionNames, (name) =>
      [
        actions[name].scope,
        actions[name].kind,
        ...askers.map((asker) => permissionStatus(actions[name], asker)),
      ].join(),
    ).values(),
  ].flatMap(([name]) => name ?? []),
);

/**
 * Every column for the first action of a row. For others the operator, the owner and one of the other roles, which no
 * action tells apart, as far as they may do it; and a person who may not.
 */
const columnsOf = (name: ActionName): readonly Column[] => {
  if (firstOfRow.has(name)) return columns;
  const allowed = askers.filter((asker) => permissionStatus(actions[name], asker) === 200);
  const others = roles.filter((role) => role !== "operator" && allowed.includes(role));
  const other = others[actionNames.indexOf(name) % others.length];
  return [...allowed.filter((asker) => ["operator", other, "owner"].includes(asker)), "no role"];
};

/** Sends the action as a column of the table says. */
const sendIn = async <Name extends ActionName>(column: Column, name: Name): Promise<Answer> => {
  const account = column === "other owner" ? other : own;
  const on = {
    ...account,
    ...(expectedStatus(name, column) !== 200 && { newKey: async () => account.spareKey }),
  };
  if (column.startsWith("AWS ") || column === "no signature") {
    return sendSigned(column, name, await rows[name].input(on));
  }
  return sendAs(people[column] ?? column, name, await rows[name].input(on));
};

/** An own account's name with another account's key, transaction, delivery or consent. */
const sendForeign = async <Name extends ActionName>(name: Name): Promise<Answer | undefined> => {
  const input = await rows[name].foreign?.(own, other);
  return input && sendAs("owner", name, input);
};

describe("who may do each action of the console", () => {
  test.each(actionNames)("%s", async (name) => {
    const answers: Partial<Record<Column, Answer>> = {};
    const sent = columnsOf(name);
    for (const column of sent) answers[column] = await sendIn(column, name);
    const statuses = sent.map((column) => [column, answers[column]?.status]);
    expect(statuses, JSON.stringify(answers, null, 1)).toEqual(
      sent.map((column) => [column, expectedStatus(name, column)]),
    );
    const masked = sent.filter((column) => /(finance|support|auditor|reader)$/.test(column));
    const { phone_number } = anOrder();
    expect(masked.filter((column) => answers[column]?.text.includes(phone_number))).toEqual([]);
  });

  test.each(actionNames.filter((name) => rows[name].foreign !== undefined))(
    "%s with an own account and something of another one is 404",
    async (name) => {
      const answer = await sendForeign(name);
      expect(answer, answer?.text).toMatchObject({ status: 404 });
    },
  );
});

test("each change that the service made, each export and each read of personal data is in the audit log, in words", async () => {
  const entry = z.object({ action: z.string(), by: z.string(), sentence: z.string() });
  const page = z.object({ entries: z.array(entry), next_cursor: z.nullable(z.string()) });
  const recorded = new Set<string>();
  let cursor: string | null | undefined;
  do {
    const { text } = await sendRaw(tokens.get("operator"), "audit list", cursor ? { cursor } : {});
    const { entries, next_cursor } = z.object({ data: page }).parse(JSON.parse(text)).data;
    for (const { action, by, sentence } of entries) {
      recorded.add(action);
      // Without a colon after the name, which an action without words has, and without a gap for a missing detail.
      expect(
        [`${by} `, `Command line (says: ${by}) `].some((name) => sentence.startsWith(name)),
        sentence,
      ).toBe(true);
      expect(sentence, action).not.toMatch(/undefined|NaN| {2}| $|\(\)| of $/);
    }
    cursor = next_cursor;
  } while (cursor !== null);
  const table: ActionTable = actions;
  const made = actionNames.filter((name) => rows[name].refusedWith === undefined);
  const writing = made.filter(
    (name) => table[name]?.kind === "change" || table[name]?.audited === true || table[name]?.personal === true,
  );
  expect(writing.filter((name) => !recorded.has(name))).toEqual([]);
});

/** Instead of each field of a valid input. */
const hostileValues: readonly unknown[] = [
  "",
  "x".repeat(3_000),
  "\u0000",
  "\ud800",
  "../../me",
  "%00",
  "__proto__",
  null,
  true,
  -1,
  0.5,
  Number.MAX_VALUE,
  [],
  ["x".repeat(3_000)],
  [null],
  {},
  { length: 1 },
];

/** Whether the handler refuses the input before it runs the action. */
const isRefused = (name: ActionName, input: Readonly<Record<string, unknown>>): boolean => {
  const method = methodOf(actions[name]);
  const query = Object.fromEntries(
    Object.entries(input).map(([field, value]) => [field, String(value).toWellFormed()]),
  );
  const event = anApiEvent({ method, ...(method === "POST" ? { body: JSON.stringify(input) } : { query }) });
  try {
    parseInput(actions[name].input, apiEvent.parse(event));
    return false;
  } catch (error) {
    if (error instanceof ServiceError) return true;
    throw error;
  }
};

/** Which of them are sent is another tenth in each run. */
const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 1_000_000));

describe(`hostile input (seed ${SEED})`, () => {
  // What the input's schema refuses is not sent, but for one value of each action.
  test.each(actionNames)("no field of %s makes the service fail", async (name) => {
    const failed: unknown[] = [];
    const valid: Readonly<Record<string, unknown>> = { ...(await rows[name].input(own)) };
    const fields = [...Object.keys(valid), ...(actions[name].kind === "read" ? ["cursor"] : [])];
    for (const [index, hostile] of hostileValues.entries()) {
      for (const [at, field] of fields.entries()) {
        const input = { ...valid, [field]: hostile };
        const place = index + at + actionNames.indexOf(name) + SEED;
        if (place % (isRefused(name, input) ? hostileValues.length : 10) !== 0) continue;
        // An owner's input is read only where an owner may do the action.
        const who = actions[name].scope === "account" && (index + at) % 2 === 0 ? "owner" : "operator";
        const answer = await sendRaw(tokens.get(who), name, input);
        if (answer.status >= 500) failed.push({ who, field, hostile: String(hostile).slice(0, 20), ...answer });
      }
    }
    expect(failed).toEqual([]);
  });
});
