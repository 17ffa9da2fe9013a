import { beforeEach, expect, test, vi } from "vitest";
import {
  type AccountStore,
  accountSchema,
  changeAccount,
  requireAccount,
} from "../../../../shared/access/account-store.ts";
import { createAccount, setAccountStatus } from "../../../../shared/access/accounts.ts";
import { HOUR_MS } from "../../../../shared/contract/values/durations.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import {
  addEndpoint,
  adoptWebhookSecret,
  disableEndpoint,
  type EndpointStore,
  endEndpointFailures,
  openEndpoint,
  removeEndpoint,
  requireEndpoint,
  rotateWebhookSecret,
  setEndpoint,
} from "../../../../shared/webhooks/endpoint.ts";
import { recordEndpointHealth } from "../../../../shared/webhooks/endpoint-health.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { aSecret } from "../../../builders/ledger/secrets.ts";
import { firstEndpoint, LOOPBACK as rules } from "../../../builders/webhooks/endpoint.ts";

/** Goal: a webhook secret is sealed for its own account, and rotated so that every webhook is signed. */
const NOON = Date.parse("2026-11-21T12:00:00.000Z");
const KEY = "a sealing key of thirty-two or more characters";

const tables = await freshTables();
let nowMs = NOON;
beforeEach(() => {
  nowMs = NOON;
});

/** An account with an endpoint. */
const anEndpoint = async () => {
  const clock = () => nowMs;
  const accounts: AccountStore = { ...tables, clock };
  const endpoints: EndpointStore = {
    accounts,
    webhookSealingKey: aSecret(KEY),
    clock,
  };
  const { account_id } = await createAccount(accounts, { name: "app", whitelist: [] });
  const { webhookSecret } = await setEndpoint(endpoints, rules, account_id, "http://127.0.0.1:1/");
  const endpoint = () => requireEndpoint(endpoints, account_id);
  return { account_id, accounts, endpoints, webhookSecret, endpoint };
};

test("the webhook secret is stored sealed, and cannot be unsealed on another account's item", async () => {
  const { endpoints, account_id, webhookSecret, accounts, endpoint } = await anEndpoint();
  const { Item } = await tables.db.get({ TableName: tables.ledgerTable, Key: { pk: `account#${account_id}` } });
  expect(JSON.stringify(Item)).not.toContain(webhookSecret.slice(6, 20));
  expect((await endpoint()).secrets).toEqual([webhookSecret]);

  const thief = await createAccount(accounts, { name: "thief", whitelist: [] });
  const stolen = accountSchema.parse(Item).endpoints;
  await tables.db.put({ TableName: tables.ledgerTable, Item: { ...thief, endpoints: stolen } });
  await expect(requireEndpoint(endpoints, thief.account_id)).rejects.toThrow();
});

test("after a rotation both secrets sign for 24 hours, then only the new one, and another URL keeps it", async () => {
  const { endpoints, account_id, webhookSecret, endpoint, accounts } = await anEndpoint();
  const rotated = await rotateWebhookSecret(endpoints, firstEndpoint(account_id));
  expect(rotated.previousUntil).toBe(isoTime(NOON + 24 * HOUR_MS));
  nowMs += 24 * HOUR_MS - 1;
  expect((await endpoint()).secrets).toEqual([rotated.webhookSecret, webhookSecret]);
  nowMs += 1;
  expect((await endpoint()).secrets).toEqual([rotated.webhookSecret]);
  const moved = await setEndpoint(endpoints, rules, account_id, "http://127.0.0.1:2/");
  expect(moved.webhookSecret).toBe(rotated.webhookSecret);

  await disableEndpoint(endpoints, firstEndpoint(account_id));
  await setAccountStatus(accounts, account_id, "restricted");
  expect(await endpoint()).toMatchObject({ status: "off", url: "http://127.0.0.1:2/" });
  await setEndpoint(endpoints, rules, account_id, "http://127.0.0.1:2/");
  expect(await endpoint()).toMatchObject({ status: "on", secrets: [rotated.webhookSecret] });
});

test("a rotation that is repeated, because its answer was lost, does not end the secret that apps have", async () => {
  const { endpoints, account_id, webhookSecret, endpoint } = await anEndpoint();
  const first = await rotateWebhookSecret(endpoints, firstEndpoint(account_id));
  nowMs += HOUR_MS;
  const second = await rotateWebhookSecret(endpoints, firstEndpoint(account_id));
  expect((await endpoint()).secrets).toEqual([second.webhookSecret, first.webhookSecret, webhookSecret]);
  nowMs = NOON + 24 * HOUR_MS;
  expect((await endpoint()).secrets).toEqual([second.webhookSecret, first.webhookSecret]);
  nowMs += HOUR_MS;
  expect((await endpoint()).secrets).toEqual([second.webhookSecret]);
});

test("at most four secrets sign beside the new one, so that the signatures stay short", async () => {
  const { endpoints, account_id, webhookSecret, endpoint } = await anEndpoint();
  const rotated: string[] = [webhookSecret];
  for (let round = 0; round < 6; round += 1) {
    rotated.unshift((await rotateWebhookSecret(endpoints, firstEndpoint(account_id))).webhookSecret);
  }
  expect((await endpoint()).secrets).toEqual(rotated.slice(0, 5));
});

test("a secret that was made elsewhere is the one of the first endpoint, and of no other", async () => {
  const { accounts, endpoints } = await anEndpoint();
  const { account_id } = await createAccount(accounts, { name: "app", whitelist: [] });
  await adoptWebhookSecret(endpoints, account_id, "whsec_elsewhere");
  const add = (port: number) => addEndpoint(endpoints, rules, account_id, `http://127.0.0.1:${port}/`);
  expect(await add(1)).toMatchObject({ webhookSecret: "whsec_elsewhere", isNewSecret: false });
  expect(await add(2)).toMatchObject({ isNewSecret: true });
});

test("an endpoint's failures end with a new generation, unless it was changed, switched off or removed since", async () => {
  const { account_id, accounts, endpoints } = await anEndpoint();
  await addEndpoint(endpoints, rules, account_id, "http://127.0.0.1:2/");
  const endpoint = (id: string) => requireEndpoint(endpoints, account_id, id);
  const end = (id: string, generation: number) =>
    endEndpointFailures(endpoints, { accountId: account_id, endpoint: id, generation });
  const second = { accountId: account_id, endpoint: "2" };
  const failure = { kind: "failing", since: isoTime(NOON), event: "evt_1" } as const;
  const { generation } = await endpoint("2");
  const ledger = { db: tables.db, table: tables.ledgerTable, clock: () => nowMs };
  await recordEndpointHealth(ledger, { ...second, generation }, failure);
  expect(await endpoint("1")).toMatchObject({ failing: undefined });
  expect(await endpoint("2")).toMatchObject({ failing: { since: isoTime(NOON), events: ["evt_1"] } });

  await end("1", generation);
  await end("2", generation);
  await end("2", generation);
  const ended = { status: "on", generation: generation + 1, failing: undefined };
  expect([await endpoint("1"), await endpoint("2")]).toMatchObject([ended, ended]);
  await disableEndpoint(endpoints, second);
  await end("2", generation + 1);
  expect(await endpoint("2")).toMatchObject({ status: "off", generation: generation + 1 });
  await removeEndpoint(endpoints, second);
  await end("2", generation + 1);
  const account = await requireAccount(accounts, account_id);
  expect(await openEndpoint(endpoints, account, "1")).toMatchObject({ id: "1", generation: generation + 1 });
  expect(await openEndpoint(endpoints, account, "2")).toBeUndefined();
});

test("a change of an endpoint that is not stored is an error", async () => {
  const { endpoints, account_id } = await anEndpoint();
  const key = firstEndpoint(account_id);
  const failing = vi.spyOn(tables.db, "transactWrite").mockRejectedValue(new Error("No answer"));
  for (const change of [
    () => rotateWebhookSecret(endpoints, key),
    () => adoptWebhookSecret(endpoints, account_id, "whsec_another"),
    () => disableEndpoint(endpoints, key),
    () => endEndpointFailures(endpoints, { ...key, generation: 0 }),
    () => removeEndpoint(endpoints, key),
  ]) {
    await expect(change()).rejects.toThrow("No answer");
  }
  failing.mockRestore();
});

test("the URL of an endpoint that the account does not have is not set, also if the account has none", async () => {
  const { accounts, endpoints } = await anEndpoint();
  const { account_id } = await createAccount(accounts, { name: "app", whitelist: [] });
  const set = setEndpoint(endpoints, rules, account_id, "http://127.0.0.1:1/", { endpoint: "1" });
  await expect(set).rejects.toThrow("has no webhook endpoint 1");
});

test("an account that has had 1000 endpoints gets no other: searches read the deliveries of all that it ever had", async () => {
  const { account_id, accounts, endpoints } = await anEndpoint();
  await changeAccount(accounts, account_id, (account) => ({ ...account, endpoints_made: 999 }));
  const add = (path: string) => addEndpoint(endpoints, rules, account_id, `http://127.0.0.1:1/${path}`);
  expect((await add("last")).endpoint.id).toBe("1000");
  await removeEndpoint(endpoints, { accountId: account_id, endpoint: "1000" });
  await expect(add("next")).rejects.toThrow("has had 1000 webhook endpoints");
  const { endpoint } = await setEndpoint(endpoints, rules, account_id, "http://127.0.0.1:1/other");
  expect(endpoint).toMatchObject({ id: "1", url: "http://127.0.0.1:1/other" });
});
