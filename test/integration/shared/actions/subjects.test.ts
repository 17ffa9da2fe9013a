import { createHmac } from "node:crypto";
import type { UpdateCommandInput } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test } from "vitest";
import { requireAccount } from "../../../../shared/access/account-store.ts";
import type { ConsoleRequest } from "../../../../shared/actions/action-context.ts";
import { SEARCHES_PER_MINUTE } from "../../../../shared/actions/action-limits.ts";
import { type SubjectsContext, subjectsRuns } from "../../../../shared/actions/subjects.ts";
import { type Consent, consentSchema } from "../../../../shared/identity/consent.ts";
import { readAudit, SERVICE } from "../../../../shared/ledger/audit.ts";
import { getItem } from "../../../../shared/ledger/get-item.ts";
import { consentPk } from "../../../../shared/ledger/schema.ts";
import type { DocumentClient } from "../../../../shared/platform/aws-clients.ts";
import { OperatorError } from "../../../../shared/platform/operator-error.ts";
import { pagesOf } from "../../../../shared/platform/pages.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { CLOCK_DIFFERENCE_MS_MAX } from "../../../../shared/platform/time-budgets.ts";
import {
  findEvent,
  recordEvent,
  storedEventId,
  storedEventPk,
} from "../../../../shared/upstream-events/stored-event.ts";
import { newDelivery, readDelivery } from "../../../../shared/webhooks/delivery.ts";
import { SANDBOX_REPEAT } from "../../../../shared/webhooks/enqueue-webhook.ts";
import { startDynamoDbProxy } from "../../../builders/dynamodb/dynamodb-proxy.ts";
import { dynamodbEndpoint } from "../../../builders/dynamodb/emulator.ts";
import { putItems } from "../../../builders/dynamodb/put-items.ts";
import { emulatorClient } from "../../../builders/dynamodb/tables.ts";
import { dynamoDbRequests } from "../../../builders/iam/dynamodb-requests.ts";
import { evaluate } from "../../../builders/iam/evaluate.ts";
import { arnOf } from "../../../builders/iam/resolve.ts";
import { stagePolicies } from "../../../builders/iam/roles.ts";
import { anActionContext, anOwnersRequest } from "../../../builders/ledger/action-context.ts";
import { openOperatorLedger } from "../../../builders/ledger/operator-ledger.ts";
import { putTransactions } from "../../../builders/ledger/put-transactions.ts";
import { keyedHashes } from "../../../builders/ledger/secrets.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { everyFunction } from "../../../builders/templates/console.ts";
import { templatesOf } from "../../../builders/templates/templates.ts";

const PHONE = "08031234567";
const NIN = "12345678901";
const why = "request 2026-014";
const timeOf = (index: number): string => isoTime(NOON_MS - 86_400_000 + index * 1_000);
const hash = (field: string, number: string): string =>
  createHmac("sha256", "k").update(`${field}${number}`).digest("base64url");

const operator = await openOperatorLedger();
/** Each test asks as another person, because searches are counted. */
let asker = 0;
beforeEach(() => {
  asker += 1;
});

const role = stagePolicies(templatesOf("prod", everyFunction)).functions.get("answer-subjects") ?? [];
/** The updates of a client are refused which the function's role does not allow. */
const asAnswerSubjects = (db: DocumentClient): DocumentClient => {
  const update: DocumentClient["update"] = (input, ...options) => {
    const requests = dynamoDbRequests("UpdateItem", input, () => arnOf("AWS::DynamoDB::Table", "Ledger"));
    const refused = requests.filter((request) => evaluate(role, request) !== "allowed");
    if (refused.length > 0) throw new Error(`The role of answer-subjects does not allow ${JSON.stringify(refused)}`);
    return db.update(input, ...options);
  };
  return Object.assign(Object.create(db), { update });
};

const contextOn = (db = operator.tables.db): SubjectsContext => {
  const context = anActionContext(operator.tables);
  const request: ConsoleRequest | undefined = anOwnersRequest({
    identity: `ada-${asker}`,
    roles: ["operator"],
  }).request;
  return {
    ...{ actor: context.actor, keyedHashes, ledger: { ...context.ledger, db: asAnswerSubjects(db) } },
    ...(request && { request }),
    cache: { db: operator.tables.db, table: operator.tables.cacheTable },
    hashSubject: async (field, number) => ({ hash: hash(field, number), keyId: "mrk-1" }),
  };
};

/** Delivered orders for the number, which are also checks that were made with it. */
const addOrders = async (count: number, phone = PHONE) => {
  const { accountId } = await operator.anAccount();
  const { db, table } = operator.ledgerAt();
  const phone_key = (await keyedHashes()).phoneKey(phone);
  const orders = (await putTransactions(operator.ledgerAt(), accountId, count, timeOf)).map((order) => ({
    ...order,
    ...{ phone_number: phone, description: `1GB for ${phone}`, phone_key },
  }));
  await putItems(db, table, orders);
  return { accountId, orders };
};
const addChecks = async (count: number, number: string, kind: "nin" | "phone_number" = "nin") => {
  const { accountId } = await operator.anAccount();
  const { db, table } = operator.ledgerAt();
  const checks = await putTransactions(operator.ledgerAt(), accountId, count, timeOf);
  const consents = checks.map(
    ({ pk, account_id, key_id, created_at }): Consent => ({
      ...{ pk: consentPk({ pk }), account_id, key_id, mode: "live", subject: hash(kind, number), subject_key: "mrk-1" },
      ...{ operation: "nin_verification", extent: "basic", purpose: "loan", request_id: "r", created_at },
    }),
  );
  await putItems(db, table, consents);
  return { accountId, checks };
};

/** The last page of an erasure. */
const erase = async (context: SubjectsContext, kind: "nin" | "phone_number", number: string) => {
  const read = (cursor?: string) => subjectsRuns["subjects erase"](context, { kind, number, why, cursor });
  return (await Array.fromAsync(pagesOf(read))).at(-1);
};
const report = (kind: "nin" | "phone_number", number: string) =>
  subjectsRuns["subjects report"](contextOn(), { kind, number, why });

test("a report or an erasure whose beginning or end cannot be recorded is an error", async () => {
  const number = "12345678919";
  await addChecks(1, number);
  const { db } = operator.ledgerAt();
  const failingAt = (failing: number) => {
    let writes = 0;
    const transactWrite: DocumentClient["transactWrite"] = async (...call) => {
      writes += 1;
      if (writes === failing) throw new Error("No answer");
      return db.transactWrite(...call);
    };
    return contextOn(Object.assign(Object.create(db), { transactWrite }));
  };
  const reporting = subjectsRuns["subjects report"](failingAt(1), { kind: "nin", number, why });
  await expect(reporting).rejects.toThrow("No answer");
  for (const failing of [1, 2]) await expect(erase(failingAt(failing), "nin", number)).rejects.toThrow("No answer");
});

test("a check that another write changes after it was read is counted as open, and is erased by the next erasure", async () => {
  const { checks } = await addChecks(1, "12345678909");
  const { db, table } = operator.ledgerAt();
  const [check] = checks;
  let isChanged = false;
  const update = async (input: UpdateCommandInput) => {
    if (input.Key?.pk === check?.pk && !isChanged) {
      isChanged = true;
      await db.put({ TableName: table, Item: { ...check, fingerprint: "another" } });
    }
    return db.update(input);
  };
  const racing = contextOn(Object.assign(Object.create(db), { update }));
  expect(await erase(racing, "nin", "12345678909")).toMatchObject({ checks: 0, open: 1 });
  expect(await erase(contextOn(), "nin", "12345678909")).toMatchObject({ checks: 1, open: 0 });
  expect((await report("nin", "12345678909")).checks).toEqual([]);
});

test("an erasure that dies after any of its writes is finished by the next one, over several pages", async () => {
  const { orders } = await addOrders(30);
  const proxy = await startDynamoDbProxy(dynamodbEndpoint);
  try {
    const broken = contextOn(emulatorClient(proxy.endpoint));
    for (const alive of [0, 3, 11]) {
      let updates = 0;
      proxy.fault = ({ operation, body }) => {
        if (operation !== "UpdateItem" || body.includes("searches")) return undefined;
        updates += 1;
        return updates > alive ? "throttled" : undefined;
      };
      await expect(erase(broken, "phone_number", PHONE)).rejects.toThrow();
    }
    // An order takes two writes.
    const left = orders.length - (3 + 11) / 2;
    expect(await erase(contextOn(), "phone_number", PHONE)).toMatchObject({ orders: left, open: 0 });
  } finally {
    await proxy.stop();
  }
  const { db, table } = operator.ledgerAt();
  for (const { pk } of orders) {
    const { Item } = await db.get({ TableName: table, Key: { pk } });
    expect(Item).toMatchObject({ phone_number: "*********67", description: "1GB for *********67" });
    expect(Item?.phone_key).toBeUndefined();
  }
});

/** A client whose indexes stay as they were when they were first read. */
const withOldIndexes = (): typeof operator.tables.db => {
  const { db } = operator.ledgerAt();
  const answers = new Map<string, ReturnType<DocumentClient["query"]>>();
  const query: DocumentClient["query"] = (input, ...options) => {
    if (input.IndexName === undefined) return db.query(input, ...options);
    const asked = JSON.stringify(input);
    const answer = answers.get(asked) ?? db.query(input, ...options);
    answers.set(asked, answer);
    return answer;
  };
  return Object.assign(Object.create(db), { query });
};

test("what was erased is not found again while the indexes still list it", async () => {
  const [nin, phone] = ["12345678906", "08039999977"] as const;
  await addChecks(1, nin);
  await addOrders(1, phone);
  const context = contextOn(withOldIndexes());
  for (const found of [1, 0]) {
    expect(await erase(context, "nin", nin)).toMatchObject({ checks: found, open: 0 });
    expect(await erase(context, "phone_number", phone)).toMatchObject({ orders: found, open: 0 });
  }
});

test("an erased consent keeps all but whom it is about, and its check's fingerprint is nobody's", async () => {
  const { checks } = await addChecks(2, NIN);
  const { ledger } = contextOn();
  const before = await Promise.all(checks.map((check) => getItem(ledger, consentPk(check), consentSchema)));
  expect(await erase(contextOn(), "nin", NIN)).toMatchObject({ checks: 2 });
  for (const [index, check] of checks.entries()) {
    const { subject: _subject, subject_key: _key, ...kept } = before[index] ?? {};
    expect(await getItem(ledger, consentPk(check), consentSchema)).toEqual(kept);
    const { Item } = await ledger.db.get({ TableName: ledger.table, Key: { pk: check.pk } });
    expect(Item).toEqual({ ...check, fingerprint: "erased" });
  }
});

/** What an endpoint answered to the webhook of a transaction. */
const addAnswer = async (accountId: string, pk: string) => {
  const { ledger } = contextOn();
  const message = { event: "transaction.updated", transaction_pk: pk, status: "success", endpoint: "1" } as const;
  const delivery = newDelivery(message, { accountId, webhookId: "w-1" }, NOON_MS);
  const account = await requireAccount(operator.storeAt(), accountId);
  await ledger.db.put({ TableName: ledger.table, Item: { ...account, endpoints_made: 1 } });
  const attempt = { number: 1, at: timeOf(0), outcome: "status", duration_ms: 1 };
  const answer = { response_body: "Dear Ada", response_headers: { location: "/ada" } };
  const exhausted = { ...delivery, state: "exhausted", attempts: [{ ...attempt, ...answer }] };
  // Nothing of another one has to be removed.
  const delivered = {
    ...newDelivery({ ...message, repeat: SANDBOX_REPEAT }, { accountId, webhookId: "w-1" }, NOON_MS),
    state: "delivered",
  };
  await putItems(operator.tables.db, ledger.table, [delivered, exhausted]);
  return async () => expect((await readDelivery(ledger, delivery.pk))?.attempts).toEqual([attempt]);
};

/** The same, and an event of the upstream about the transaction. */
const addAnswerAndEvent = async (accountId: string, pk: string, reference: string, eventAtMs: number) => {
  const { ledger } = contextOn();
  const event = { reference, status: "failed", phone: { masked: "0803****999" } } as const;
  await recordEvent(operator.ledgerAt(eventAtMs), event, "contradiction", pk);
  const expectAnswerErased = await addAnswer(accountId, pk);
  return async () => {
    await expectAnswerErased();
    expect(await findEvent(ledger, storedEventId({ pk: storedEventPk(event) }))).toMatchObject({
      phone_masked: "*********99",
    });
  };
};

test("what an endpoint answered about an order is removed, and an event about it is masked, also behind 500 other events", async () => {
  const phone = "08039999999";
  const { accountId, orders } = await addOrders(1, phone);
  const others = Array.from({ length: 500 }, (_, index) => ({
    ...{ pk: `event#other-${index}`, list_key: "events", state: "discarded", reason: "unknown_failure" },
    ...{ reference: `other-${index}`, says: "failed", created_at: isoTime(NOON_MS) },
  }));
  const { db, table } = operator.ledgerAt();
  await putItems(db, table, others);
  const expectErased = await addAnswerAndEvent(accountId, orders[0]?.pk ?? "", "u-1", NOON_MS + 1_000);
  await erase(contextOn(), "phone_number", phone);
  await expectErased();
});

test("the same is removed and masked of a check, also if the event came before the person's next one", async () => {
  const nin = "12345678907";
  const { accountId, checks } = await addChecks(2, nin);
  const expectErased = await addAnswerAndEvent(accountId, checks[0]?.pk ?? "", "u-2", Date.parse(timeOf(1)) - 1);
  await erase(contextOn(), "nin", nin);
  await expectErased();
});

test.each(["a check", "an order"])(
  "an answer about %s that is stored just before the erasure marks it is removed",
  async (what) => {
    const [nin, phone] = ["12345678912", "08036666666"] as const;
    const isCheck = what === "a check";
    const { accountId, orders, checks } = isCheck
      ? { orders: [], ...(await addChecks(1, nin)) }
      : { checks: [], ...(await addOrders(1, phone)) };
    const pk = [...orders, ...checks][0]?.pk ?? "";
    const { db } = operator.ledgerAt();
    let expectErased: (() => Promise<void>) | undefined;
    const update = async (input: UpdateCommandInput) => {
      if (input.Key?.pk === pk) expectErased ??= await addAnswer(accountId, pk);
      return db.update(input);
    };
    const racing = contextOn(Object.assign(Object.create(db), { update }));
    await (isCheck ? erase(racing, "nin", nin) : erase(racing, "phone_number", phone));
    await expectErased?.();
    expect.assertions(1);
  },
);

test("an event about an order is masked also if a clock has dated it before the order", async () => {
  const phone = "08037777777";
  const { accountId, orders } = await addOrders(1, phone);
  const eventAtMs = Date.parse(orders[0]?.created_at ?? "") - CLOCK_DIFFERENCE_MS_MAX;
  const expectErased = await addAnswerAndEvent(accountId, orders[0]?.pk ?? "", "u-3", eventAtMs);
  await erase(contextOn(), "phone_number", phone);
  await expectErased();
});

test("an open order or check waits, and one in test mode, which may stay open for ever, does not", async () => {
  const phone = "08039999988";
  const { db, table } = operator.ledgerAt();
  const { orders } = await addOrders(2, phone);
  const { checks } = await addChecks(2, phone, "phone_number");
  const open = [...orders, ...checks].map((transaction, index) => ({
    ...{ ...transaction, status: "processing", mode: index % 2 === 0 ? "live" : "test" },
  }));
  await putItems(db, table, open);
  expect(await erase(contextOn(), "phone_number", phone)).toMatchObject({ orders: 1, checks: 1, open: 2 });
});

test("an erasure goes on from the checks with a phone number to its orders, over several pages, and counts them all", async () => {
  const phone = "08039999966";
  await addChecks(26, phone, "phone_number");
  await addOrders(1, phone);
  expect(await erase(contextOn(), "phone_number", phone)).toMatchObject({ checks: 26, orders: 1, open: 0 });
});

test("pages go on by a cursor that another person, or another action, does not take", async () => {
  await addChecks(30, "12345678902");
  const first = await report("nin", "12345678902");
  expect(first.checks).toHaveLength(25);
  const cursor = first.next_cursor ?? "";
  const next = await subjectsRuns["subjects report"](contextOn(), { kind: "nin", number: "12345678902", why, cursor });
  expect([next.checks.length, next.next_cursor]).toEqual([5, null]);
  const others: Promise<unknown>[] = [
    subjectsRuns["subjects report"](contextOn(), { kind: "nin", number: "12345678903", why, cursor }),
    subjectsRuns["subjects erase"](contextOn(), { kind: "nin", number: "12345678902", why, cursor }),
  ];
  asker += 1;
  others.push(subjectsRuns["subjects report"](contextOn(), { kind: "nin", number: "12345678902", why, cursor }));
  for (const refused of others) await expect(refused).rejects.toThrow(OperatorError);
});

test("a person asks at most as often as they search, and is on record before anything is read", async () => {
  for (let asked = 0; asked < SEARCHES_PER_MINUTE; asked += 1) await report("nin", "12345678904");
  await expect(report("nin", "12345678904")).rejects.toThrow(expect.objectContaining({ code: "rate_limited" }));
  const entries = (await readAudit(operator.ledgerAt(), SERVICE)).slice(-SEARCHES_PER_MINUTE);
  expect(new Set(entries.map(({ action, why: reason, details }) => JSON.stringify([action, reason, details])))).toEqual(
    new Set([JSON.stringify(["subjects report", why, { kind: "nin" }])]),
  );
});
