import { expect, test } from "vitest";
import type { StoredEndpoint } from "../../../../shared/access/account-store.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import {
  DOWN_EVENTS,
  endpointState,
  type HealthObservation,
  readEndpointFaults,
  readEndpointHealth,
  recordEndpointHealth,
} from "../../../../shared/webhooks/endpoint-health.ts";
import { afterNext } from "../../../builders/dynamodb/another-process.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { anEndpoint, firstEndpoint } from "../../../builders/webhooks/endpoint.ts";

/** Goal: an endpoint's health is what deliveries found since a person last set or enabled the endpoint. */
const SINCE = "2026-11-22T12:00:00.000Z";
const tables = await freshTables();
let accounts = 0;

const failing = (event: string, changes: { switchOff?: true; since?: string } = {}): HealthObservation => ({
  ...{ kind: "failing", since: SINCE, event },
  ...changes,
});

/** An account's health, which begins empty. */
const aHealth = () => {
  accounts += 1;
  const accountId = `acc_${accounts}`;
  const ledger = { db: tables.db, table: tables.ledgerTable };
  const account = (changes: Partial<StoredEndpoint> = {}) => ({
    account_id: accountId,
    endpoints: [anEndpoint({ generation: 1, ...changes })],
  });
  const read = () => readEndpointHealth(ledger, firstEndpoint(accountId));
  const record = (generation: number, observation: HealthObservation) =>
    recordEndpointHealth(ledger, { ...firstEndpoint(accountId), generation }, observation);
  /** The state of an endpoint that a person left so. */
  const state = async (changes: Partial<StoredEndpoint>) =>
    endpointState(anEndpoint({ generation: 1, ...changes }), await read());
  return { ledger, account, read, record, state };
};

test.each([
  ["an endpoint without health", []],
  ["an endpoint that fails already", ["evt_first"]],
])("different events that fail at once at %s are all counted, until it is down", async (_title, before) => {
  const { record, read } = aHealth();
  const events = Array.from({ length: 10 }, (_, index) => `evt_${index}`);
  for (const event of before) await record(1, failing(event));
  // With all connections open, the attempts read the item at the same time, before one of them writes it.
  await Promise.all(events.map(read));
  await Promise.all(events.map((event) => record(1, failing(event))));
  const health = await read();
  expect(new Set(health?.failing?.events).size).toBe(DOWN_EVENTS);
  expect(health).toMatchObject({ status: "on", version: DOWN_EVENTS, failing: { since: SINCE } });
});

test.each([
  ["an endpoint without health", []],
  ["an endpoint that fails already", ["evt_first"]],
])("a failure at %s that another one overtakes is counted beside it", async (_title, before) => {
  const { record, read } = aHealth();
  for (const event of before) await record(1, failing(event));
  afterNext(tables.db, "get", () => record(1, failing("evt_faster")));
  await record(1, failing("evt_slower"));
  expect((await read())?.failing?.events).toEqual([...before, "evt_faster", "evt_slower"]);
});

test("the first failure counts, a success ends the failures, and observations that change nothing write nothing", async () => {
  const { record, read, state } = aHealth();
  await record(1, { kind: "working" });
  expect(await read()).toBeUndefined();
  expect(await state({})).toEqual(anEndpoint({ generation: 1 }));
  await record(1, failing("evt_1"));
  expect(await state({})).toMatchObject({ status: "on", failing: { events: ["evt_1"] } });
  await record(1, failing("evt_1", { since: isoTime(Date.parse(SINCE) + 1) }));
  expect(await read()).toMatchObject({ version: 1, failing: { since: SINCE, events: ["evt_1"] } });
  await record(1, { kind: "working" });
  expect(await read()).not.toHaveProperty("failing");
});

test("an attempt that ends after a person set the endpoint says nothing of it, and its failures are not those of then", async () => {
  const { record, read, state } = aHealth();
  await record(1, failing("evt_1"));
  expect(await state({ generation: 2 })).toEqual(anEndpoint({ generation: 2 }));
  await record(2, failing("evt_2"));
  await record(1, failing("evt_3", { switchOff: true }));
  expect(await read()).toMatchObject({ status: "on", generation: 2, failing: { events: ["evt_2"] } });
});

test("an endpoint that deliveries switched off stays off whatever they find, until a person enables it", async () => {
  const { record, state } = aHealth();
  await record(1, failing("evt_1", { switchOff: true }));
  await record(1, { kind: "working" });
  expect(await state({})).toMatchObject({ status: "off", failing: { events: ["evt_1"] } });
  expect(await state({ generation: 2 })).toMatchObject({ status: "on" });
});

test("an endpoint that a person disabled is off, whatever deliveries find", async () => {
  const { record, state } = aHealth();
  await record(1, failing("evt_1"));
  expect(await state({ status: "off" })).toMatchObject({ status: "off", failing: { events: ["evt_1"] } });
  expect(await state({ status: "off", generation: 2 })).toMatchObject({ status: "off" });
});

test("faults are endpoints that are down or that deliveries switched off, and none that a person disabled", async () => {
  const [down, off, failingOnce, disabled, working] = [aHealth(), aHealth(), aHealth(), aHealth(), aHealth()];
  for (const { record } of [down, disabled]) {
    for (const event of ["evt_1", "evt_2", "evt_3"]) await record(1, failing(event));
  }
  await off.record(1, failing("evt_1", { switchOff: true }));
  await failingOnce.record(1, failing("evt_1"));
  const healths = [down, off, failingOnce, working].map(({ account }) => account());
  const { id, name } = anEndpoint();
  const fault = { endpoint: id, name, since: SINCE };
  expect(await readEndpointFaults(down.ledger, [...healths, disabled.account({ status: "off" })])).toEqual([
    { ...fault, account_id: down.account().account_id, kind: "down" },
    { ...fault, account_id: off.account().account_id, kind: "switched_off" },
  ]);
});
