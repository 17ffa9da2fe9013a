import { createHmac } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import * as z from "#zod";
import { outcomeMessage } from "../../shared/orders/outcome-message.ts";
import { CallHandler } from "../../shared/platform/aws/call-handler.ts";
import { sendAction } from "../../tools/admin/send-action.ts";
import { localTableNames } from "../../tools/local/tables.ts";
import type { Fault } from "../../tools/simulator/faults.ts";
import { eventually } from "../builders/run/eventually.ts";
import { type Answer, anOrder, BUY_DATA, startTestService, type TestService } from "../builders/service/service.ts";
import { aBvnCheck, aNinCheck, aRetrieval, identityProducts } from "../builders/upstream/identity.ts";

/**
 * Goal: a person's data stays where it may be. Method: one long and varied run; then everything that was logged, stored
 * or queued is taken apart and searched for what was sent and found.
 */
let service: TestService;
/** Everything that was written to the console or to the standard streams. */
const logged: string[] = [];
/** The body of each message that was sent to SQS. */
const queued: string[] = [];
const answers: Answer[] = [];

const BUY_AIRTIME = "/vtu/airtime/purchase";
const VERIFY_NIN = "/identity/nin/verify";

/** An invented name: wherever it appears, it came from a record. */
const stranger = {
  firstName: "Zubaidatuwa",
  surname: "Quartermaine",
  middleName: "Oyinkansola",
  birthdate: "13-October-1951",
  residentialAddress: "77 Strangers Close, Nowhereville",
  email: "zubaidatuwa@quartermaine.example",
  photo: `data:image/jpeg;base64,${Buffer.from("a face that must not be kept, ".repeat(40)).toString("base64")}`,
  bvn: "22099887766",
};
const numbers = {
  nins: ["12345678900", "73344556677", "73344556688", "00000000001", "00000000004", "99887766554"],
  bvns: ["22345678900", "27733445566", "22099887766"],
  phones: ["08031234567", "08031234560", "09012345678", "08000000001", "08000000002", "08000000003", "07055667788"],
};
/** In references of the upstream, which the ledger keeps, and in an operator's reason. */
const mentioned = { inReference: "09055667701", inReason: "09055667702" };
const keys: string[] = [];

const record = async (answer: Promise<Answer>): Promise<Answer> => {
  answers.push(await answer);
  return answer;
};

const underFault = async (fault: Fault, work: () => Promise<unknown>): Promise<void> => {
  service.simulator.state.faults.add(fault);
  await work();
  service.simulator.state.faults.clear();
};

const newKeys = async () => {
  const caller = await service.newCaller({ naira: 100_000 });
  const test = await caller.newKey({ mode: "test" });
  keys.push(caller.key, test);
  return { live: caller.key, test };
};

/** Successful and failing requests, with keys of both modes. */
const buyAndCheck = async (key: string): Promise<void> => {
  const post = (path: string, body: unknown) => record(service.call("POST", path, { key, body }));
  await post(BUY_DATA, anOrder({ reference: "a-bundle" }));
  await post(BUY_DATA, anOrder({ reference: "a-bundle" }));
  await post(BUY_AIRTIME, { network: "glo", amount: 100, phone_number: "09012345678", reference: "a-top-up" });
  for (const phoneNumber of ["08000000001", "08000000002", "08000000003"]) {
    await post(BUY_DATA, anOrder({ phone_number: phoneNumber }));
    await post(BUY_AIRTIME, { network: "mtn", amount: 50, phone_number: phoneNumber });
  }
  for (const [index, { path, body }] of identityProducts.entries()) {
    await post(path, { ...body, reference: `a-check-${index}`, purpose: "account opening" });
    await post(path, { ...body, reference: `a-check-${index}`, purpose: "account opening" });
  }
  await post(VERIFY_NIN, aNinCheck({ nin: "00000000001" }));
  await post(VERIFY_NIN, aNinCheck({ nin: "00000000004", mode: "advanced", reference: "minimal" }));
  const evidence = { method: "otp", id: "otp-5f2c", obtained_at: "2026-11-21T09:30:00Z" };
  await post(VERIFY_NIN, aNinCheck({ consent_evidence: evidence }));
  await post(VERIFY_NIN, aNinCheck({ nin: "73344556677", consent_evidence: { ...evidence, id: "73344556677" } }));
  await post(VERIFY_NIN, aNinCheck({ consent_evidence: { ...evidence, id: "08031234567" } }));
  // The invalid value, and the message about it.
  await post(VERIFY_NIN, aNinCheck({ nin: "7334455667x" }));
  await post(VERIFY_NIN, aNinCheck({ nin: 73_344_556_677 }));
  await post(VERIFY_NIN, aNinCheck({ nin: "73344556677", is_consent: false }));
  await post(VERIFY_NIN, aNinCheck({ nin: "73344556677", mode: "full" }));
  await post("/identity/bvn/verify", aBvnCheck({ bvn: "27733445566", reference: "27733445566 and a space" }));
  await post("/identity/bvn/retrieve", aRetrieval({ phone_number: "+2347055667788" }));
  await post(BUY_AIRTIME, { network: "mtnn", amount: 50, phone_number: "07055667788" });
  await record(service.call("POST", VERIFY_NIN, { key, raw: `{"nin":"73344556677","is_consent":true,` }));
  await record(service.call("POST", VERIFY_NIN, { key, raw: `"08031234567 73344556677"` }));
};

/** The upstream's own texts are not passed on. */
const meetTheUpstream = async (key: string): Promise<void> => {
  const verify =
    (changes: Readonly<Record<string, unknown>> = {}) =>
    () =>
      record(service.call("POST", VERIFY_NIN, { key, body: aNinCheck({ nin: "73344556688", ...changes }) }));
  const envelope = (status: number, body: unknown): Fault => ({
    kind: "custom",
    status,
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
  });
  const found = envelope(200, { status: true, message: "ok", data: { result: stranger } });
  await underFault(found, verify({ mode: "advanced", reference: "stranger" }));
  await verify({ mode: "advanced", reference: "stranger" })();
  await underFault(found, verify({ reference: "stranger-basic" }));
  await underFault(found, verify());
  const upstreamText = "NIN 73344556688 of Quartermaine, 08031234567, is unknown";
  await underFault(envelope(404, { status: false, message: upstreamText }), verify());
  await underFault(envelope(422, { status: false, message: upstreamText, errors: { nin: [upstreamText] } }), verify());
  await underFault(envelope(500, { status: false, message: upstreamText }), verify());
  await underFault(envelope(400, { status: false, message: upstreamText }), verify());
  await underFault({ kind: "custom", status: 200, body: `<html>${upstreamText}</html>` }, verify());
  await underFault({ kind: "custom", status: 200, body: `{"status":true,"data":{"result":"${upstreamText}` }, verify());
  await underFault({ kind: "drop_after_order" }, verify());
  await underFault(
    envelope(422, { status: false, message: upstreamText, errors: { phone_number: [upstreamText] } }),
    () => record(service.call("POST", BUY_DATA, { key, body: anOrder() })),
  );
  await underFault({ kind: "drop_after_order" }, () =>
    record(
      service.call("POST", BUY_AIRTIME, { key, body: { network: "mtn", amount: 77, phone_number: "07055667788" } }),
    ),
  );
};

/** Requests that are refused before their schema is checked. */
const loseTheWay = async (key: string): Promise<void> => {
  const wrongKey = `${key.slice(0, -1)}${key.endsWith("a") ? "b" : "a"}`;
  keys.push(wrongKey);
  await record(service.call("GET", "/wallet", { key: wrongKey }));
  await record(service.call("GET", "/wallet", { headers: { "X-API-KEY": key, authorization: `Basic ${key}` } }));
  await record(service.call("GET", "/transactions/73344556677", { key }));
  await record(service.call("GET", "/transactions/08031234567?phone_number=07055667788", { key }));
  await record(service.call("GET", "/identity/nin/73344556677?bvn=27733445566", { key }));
  await record(service.call("GET", "/transactions?type=data&cursor=08031234567", { key }));
};

/** A check that the platform answers, without an envelope. */
const unanswered = async (key: string, body: unknown): Promise<void> => {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(`${service.baseUrl}${VERIFY_NIN}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  expect(await response.json()).toEqual({ message: "Internal Server Error" });
};

/** An operator answers people, also with what is no number, and erases one. */
const askAboutPeople = async (): Promise<void> => {
  const sender = { target: { baseUrl: service.baseUrl, name: "local" }, by: "ada", role: "operator" } as const;
  const ask = (name: "subjects report" | "subjects erase", kind: string, number: string, why = "request 2026-014") =>
    sendAction(sender, name, { kind, number, why });
  for (const [kind, number] of [
    ["nin", "73344556688"],
    ["bvn", "22345678900"],
    ["phone_number", "+234 803 123 4560"],
  ] as const) {
    await ask("subjects report", kind, number);
    await ask("subjects erase", kind, number);
  }
  await sendAction(sender, "accounts create", { name: "shop", why: `${mentioned.inReason} asked for it` });
  await expect(ask("subjects report", "nin", "7334455667x")).rejects.toThrow("Must be a NIN");
  await expect(ask("subjects report", "nin", "73344556677", "of 73344556677")).rejects.toThrow("no number of ten");
};

/** Events under references that are made of the recipient's number: with an unknown reference, unreadable, and with a wrong amount. */
const hearOfOrders = async (): Promise<void> => {
  const { url = "", secret = "" } = service.simulator.state.webhook ?? {};
  const order = { type: `data ${mentioned.inReference}`, phone_number: mentioned.inReference, amount: 500 };
  for (const changes of [{ status: "success" }, { status: "reversed" }, { status: "success", amount: "five" }]) {
    const data = { ...order, ...changes, reference: `U-${mentioned.inReference}-${JSON.stringify(changes).length}` };
    const body = JSON.stringify({ event: "transaction.updated", data });
    const signature = createHmac("sha256", secret).update(body).digest("hex");
    const headers = { "content-type": "application/json", "x-webhook-signature": signature };
    expect((await fetch(url, { method: "POST", headers, body })).status).toBe(200);
  }
};

/** Tables that fail while they hold a request's data. */
const loseTheTables = async (key: string): Promise<void> => {
  const check = (reference?: string) =>
    record(service.call("POST", VERIFY_NIN, { key, body: aNinCheck({ nin: "99887766554", reference }) }));
  service.proxy.fault = ({ body }) => (body.includes("replay#") ? "never_arrives" : undefined);
  await check("no-cache");
  await unanswered(key, aNinCheck({ nin: "99887766554", reference: "no-cache" }));
  const busyUntilMs = Date.now() + 300;
  service.proxy.fault = ({ operation }) =>
    operation === "TransactWriteItems" && Date.now() < busyUntilMs ? "conflict" : undefined;
  await check("busy");
  service.proxy.fault = ({ operation, body }) => {
    if (operation === "TransactWriteItems") return "answer_lost";
    return operation === "PutItem" && body.includes("transaction#") ? "never_arrives" : undefined;
  };
  // An indeterminate debit without a reference.
  await check();
  await record(service.call("POST", BUY_DATA, { key, body: anOrder() }));
  service.proxy.fault = () => undefined;
};

beforeAll(async () => {
  const capture = (...parts: readonly unknown[]): void => void logged.push(parts.map(String).join(" "));
  for (const level of ["log", "info", "warn", "error", "debug"] as const) {
    vi.spyOn(console, level).mockImplementation(capture);
  }
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, "write").mockImplementation((chunk) => {
      capture(typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8"));
      return true;
    });
  }
  const { handle } = CallHandler.prototype;
  vi.spyOn(CallHandler.prototype, "handle").mockImplementation(function (this: CallHandler, ...sent) {
    const [{ headers, body }] = sent;
    if (headers["x-amz-target"] === "AmazonSQS.SendMessage") {
      queued.push(z.object({ MessageBody: z.string() }).parse(JSON.parse(String(body))).MessageBody);
    }
    return Reflect.apply(handle, this, sent);
  });

  service = await startTestService();
  const { live, test: testKey } = await newKeys();
  const others = await newKeys();
  await buyAndCheck(live);
  await buyAndCheck(testKey);
  await record(service.call("POST", BUY_DATA, { key: testKey, body: anOrder({ phone_number: "08000000006" }) }));
  await meetTheUpstream(others.live);
  await loseTheWay(live);
  await askAboutPeople();
  await hearOfOrders();
  await loseTheTables(others.live);
  // The sandbox's delayed settlements pass through the queue.
  await eventually(async () => {
    const transactions = (await itemsOf("ledger")).filter(({ mode, type }) => mode === "test" && type !== undefined);
    expect(transactions.filter(({ status }) => status === "processing")).toEqual([]);
  });
});
afterAll(async () => {
  await service.stop();
  vi.restoreAllMocks();
});

/** Every text within a stored value, also within gzip and Base64. */
const textsIn = (value: unknown): string[] => {
  if (typeof value === "string") return [value, ...decoded(value)];
  if (typeof value === "number" || typeof value === "bigint") return [String(value)];
  if (value instanceof Uint8Array) return [...bytesAsTexts(value)];
  if (value instanceof Set || Array.isArray(value)) return [...value].flatMap(textsIn);
  if (typeof value === "object" && value !== null) return Object.entries(value).flat().flatMap(textsIn);
  return [];
};
const decoded = (text: string): string[] =>
  /^[A-Za-z0-9+/_-]{16,}={0,2}$/.test(text) ? bytesAsTexts(Buffer.from(text, "base64")) : [];
const bytesAsTexts = (bytes: Uint8Array): string[] => {
  const plain = Buffer.from(bytes);
  const unzipped = plain[0] === 0x1f && plain[1] === 0x8b ? [gunzipSync(plain).toString("utf8")] : [];
  return [plain.toString("utf8"), plain.toString("latin1"), ...unzipped];
};

/** The same of a line of JSON: the log, or a message. */
const textsInLine = (line: string): string[] => {
  try {
    return [line, ...textsIn(JSON.parse(line))];
  } catch {
    return textsIn(line);
  }
};

/** The forbidden values that the texts contain, in any case. */
const foundIn = (texts: readonly string[], forbidden: readonly string[]): string[] => {
  const haystack = texts.join("\n").toLowerCase();
  return forbidden.filter((needle) => haystack.includes(needle.toLowerCase()));
};

/** All personal data in the responses: names, photos, addresses, numbers. */
const resultTexts = (): string[] => {
  const results = answers.map(
    ({ body }) => z.object({ result: z.record(z.string(), z.unknown()) }).safeParse(body.data).data?.result ?? {},
  );
  const values = results.flatMap((result) => Object.values(result));
  return [...new Set(values.filter((value) => typeof value === "string" && value.length > 4))].map(String);
};
/** Without the leading zero, so that `+234...` is found too. */
const phoneNeedles = (): string[] => numbers.phones.map((number) => number.slice(1));
const mentionedNeedles = (): string[] => Object.values(mentioned).map((number) => number.slice(1));
const identityNeedles = (): string[] => [
  ...numbers.nins,
  ...numbers.bvns,
  "7334455667x",
  ...Object.values(stranger).map((text) => text.slice(0, 60)),
  ...Object.values(stranger)
    .map((text) => text.slice(40, 100))
    .filter((text) => text.length > 40),
  // A phone number is searched for separately, because a purchase may contain it.
  ...resultTexts().filter((text) => foundIn([text], phoneNeedles()).length === 0 || text.length !== 11),
];
const keyNeedles = (): string[] => keys.flatMap((key) => [key, key.slice("live_".length)]);

const itemsOf = async (table: keyof typeof localTableNames) => {
  const { Items = [] } = await service.db.scan({ TableName: localTableNames[table] });
  return Items;
};

describe("the run", () => {
  test("the run has every kind of response and of result, in both modes", () => {
    const statuses = new Set(answers.map(({ status }) => status));
    for (const status of [200, 400, 401, 404, 422, 502, 503]) expect(statuses).toContain(status);
    expect(answers.length).toBeGreaterThan(80);
    const people = resultTexts();
    expect(people.length).toBeGreaterThan(40);
    expect(foundIn(people, Object.values(stranger).slice(0, 3))).toHaveLength(3);
    expect(keys).toHaveLength(5);
  });

  test("the search finds values in plain text, Base64, gzip and another case", () => {
    const needle = "Quartermaine";
    const hiding = [
      needle.toUpperCase(),
      Buffer.from(`a long text about ${needle}`).toString("base64"),
      new Uint8Array(gzipSync(`{"surname":"${needle}"}`)),
      { deep: [new Set([Buffer.from(needle)])] },
      { [needle]: 1 },
    ];
    for (const value of hiding) expect(foundIn(textsIn(value), [needle])).toEqual([needle]);
    expect(foundIn(textsIn({ phone: 8_031_234_567 }), phoneNeedles())).toEqual(["8031234567"]);
    expect(foundIn(textsIn({ name: "other" }), [needle])).toEqual([]);
  });
});

describe("the log", () => {
  test("the log has one line for each request, and warnings", () => {
    const lines = logged.filter((line) => line.includes("request.answered"));
    for (const { headers } of answers) {
      const id = headers.get("x-request-id") ?? "none";
      expect(lines.filter((line) => line.includes(id))).toHaveLength(1);
    }
    expect(logged.some((line) => line.includes('"level":"warn"'))).toBe(true);
    for (const event of ["replay.not_stored", "upstream_event.escalated", "transaction.amount_differs"]) {
      expect(logged.some((line) => line.includes(event))).toBe(true);
    }
  });

  test("the log contains no personal data, no key and no phone number", () => {
    const needles = [...identityNeedles(), ...keyNeedles(), ...phoneNeedles(), ...mentionedNeedles()];
    expect(foundIn(logged.flatMap(textsInLine), needles)).toEqual([]);
  });
});

describe("the queue", () => {
  test("the queue got settlements of the sandbox and of indeterminate debits, with exactly the documented fields", () => {
    const messages = queued.map((body) => ({ sent: JSON.parse(body), read: outcomeMessage.parse(JSON.parse(body)) }));
    for (const { sent, read } of messages) expect(read).toEqual(sent);
    const modes = messages.map(({ read }) => (read.kind === "void" ? read.item : read).mode);
    expect(modes.filter((mode) => mode === "test")).toHaveLength(4);
    expect(messages.filter(({ read }) => read.kind === "void").length).toBeGreaterThanOrEqual(2);
  });

  test("the queue contains no personal data, no key and no phone number", () => {
    expect(foundIn(queued.flatMap(textsInLine), [...identityNeedles(), ...keyNeedles(), ...phoneNeedles()])).toEqual(
      [],
    );
  });
});

describe("the tables", () => {
  test.each(["access", "ledger", "audit", "cache"] as const)(
    "the table %s contains no personal data and no key",
    async (table) => {
      const items = await itemsOf(table);
      expect(items.length).toBeGreaterThan(table === "ledger" ? 60 : 1);
      expect(foundIn(items.flatMap(textsIn), [...identityNeedles(), ...keyNeedles()])).toEqual([]);
    },
  );

  test("a number that only an event or a reason has is in the upstream's reference, and nowhere else", async () => {
    const items = [...(await itemsOf("ledger")), ...(await itemsOf("audit")), ...(await itemsOf("cache"))];
    const withNumber = items.filter((item) => foundIn(textsIn(item), mentionedNeedles()).length > 0);
    expect(withNumber.length).toBeGreaterThan(0);
    for (const { reference: _reference, pk: _pk, ...rest } of withNumber) {
      expect(foundIn(textsIn(rest), mentionedNeedles())).toEqual([]);
    }
  });

  test("a phone number is in phone_number and description of a purchase, and nowhere else", async () => {
    const items = [...(await itemsOf("access")), ...(await itemsOf("ledger")), ...(await itemsOf("cache"))];
    const isPurchase = (item: Record<string, unknown>) => item.type === "data" || item.type === "airtime";
    const withNumber = items.filter((item) => foundIn(textsIn(item), phoneNeedles()).length > 0);
    expect(withNumber.length).toBeGreaterThan(10);
    expect(withNumber.filter((item) => !isPurchase(item))).toEqual([]);
    for (const { phone_number: _number, description: _description, ...rest } of withNumber) {
      expect(foundIn(textsIn(rest), phoneNeedles())).toEqual([]);
    }
  });

  test("results are stored sealed if the caller sent a reference, and consents with a keyed hash", async () => {
    const kept = (await itemsOf("cache")).filter(({ pk }) => String(pk).startsWith("replay#"));
    expect(kept.length).toBeGreaterThan(10);
    const consents = (await itemsOf("ledger")).filter(({ pk }) => String(pk).startsWith("consent#"));
    expect(consents.length).toBeGreaterThan(20);
    for (const { subject } of consents) expect(subject).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });
});
