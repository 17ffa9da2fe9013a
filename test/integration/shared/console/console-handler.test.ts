import { describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "#zod";
import { changeAccount } from "../../../../shared/access/account-store.ts";
import { createAccount } from "../../../../shared/access/accounts.ts";
import { auditItem } from "../../../../shared/actions/action-context.ts";
import { SEARCHES_PER_MINUTE } from "../../../../shared/actions/action-limits.ts";
import type { ActionRuns } from "../../../../shared/actions/action-runs.ts";
import { searchRuns } from "../../../../shared/actions/search.ts";
import { consoleHandler } from "../../../../shared/console/console-handler.ts";
import { consoleSettings } from "../../../../shared/console/console-settings.ts";
import { type ActionTable, accountInput, itemInput, whySchema } from "../../../../shared/contract/actions/action.ts";
import { searchActions } from "../../../../shared/contract/actions/search.ts";
import { readRoles } from "../../../../shared/contract/roles.ts";
import { readAudit, SERVICE } from "../../../../shared/ledger/audit.ts";
import {
  InFlightError,
  NotAllowedError,
  NotFoundError,
  OperatorError,
} from "../../../../shared/platform/operator-error.ts";
import { textClaims } from "../../../../tools/local/jwt-authorizer.ts";
import { anApiEvent } from "../../../builders/aws/api-event.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { anActionContext } from "../../../builders/ledger/action-context.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

const ISSUER = "https://login.example.com/";
const settings = consoleSettings.parse({
  issuer: ISSUER,
  clientId: "console",
  operatorGroup: "operators",
  readerGroup: "readers",
  auditorGroup: "auditors",
  supportGroup: "support",
});

const why = z.optional(whySchema);
const common = { output: z.object({}), summary: "Do something", command: "none" } as const;
const read = { ...common, kind: "read", roles: readRoles } as const;
const change = { ...common, kind: "change", roles: ["operator"] } as const;
const actions = {
  "notes list": {
    ...{ ...read, scope: "account", input: z.extend(accountInput, { limit: z.optional(z.coerce.number()) }) },
    output: z.object({ text: z.string(), limit: z.optional(z.number()), capacity: z.string() }),
  },
  "notes answer": {
    ...{ ...read, scope: "account", roles: ["operator", "support"], input: accountInput },
    output: z.object({ text: z.string() }),
  },
  "notes change": {
    ...{ ...change, scope: "account", input: z.extend(accountInput, { text: z.string(), why }) },
    output: z.object({ by: z.string(), person: z.optional(z.string()), caller_arn: z.optional(z.string()) }),
  },
  "notes find": { ...read, scope: "account", input: itemInput },
  "notes move": { ...change, scope: "account", input: z.extend(itemInput, { why }) },
  "notes burn": { ...change, scope: "account", irreversible: true, input: z.extend(accountInput, { why }) },
  "money give": { ...change, scope: "service", movesMoney: true, input: z.object({ why }) },
  "trouble make": {
    ...{ ...change, scope: "service" },
    input: z.object({
      kind: z.enum(["not_found", "not_allowed", "in_flight", "refused", "wrong_field", "unexpected"]),
    }),
  },
  "people list": {
    ...{ ...read, scope: "account", personal: true },
    input: z.extend(itemInput, { reference: z.optional(z.string()), cursor: z.optional(z.string()) }),
  },
  "audit write": { ...read, scope: "service", input: z.object({}) },
  "notes all": { ...read, scope: "service", input: z.object({}), output: z.object({ notes: z.array(z.string()) }) },
} as const satisfies ActionTable;

const trouble = {
  not_found: new NotFoundError("There is no such note", { command: "notes list shows them" }),
  not_allowed: new NotAllowedError("Only operators may"),
  in_flight: new InFlightError("It is on its way", 1_200),
  refused: new OperatorError("The note is frozen", { command: "notes thaw helps" }),
  wrong_field: new OperatorError("The text was used before", { command: "notes list shows it", field: "text" }),
  unexpected: new Error("secret text of 08031234567"),
};

const runs: ActionRuns<typeof actions> = {
  "notes list": async ({ capacity }, { limit }) => ({ text: "to 08031234567", limit, capacity }),
  "notes answer": async () => ({ text: "to 08031234567" }),
  "notes change": async (context, { account }) => {
    const { by, person, caller_arn } = auditItem(context, account, { action: "notes change" }).Put.Item;
    return { by, person: person?.sub, caller_arn };
  },
  "notes find": async () => ({}),
  "notes move": async () => ({}),
  "notes burn": async () => ({}),
  "money give": async () => ({}),
  "trouble make": async (_context, { kind }) => {
    throw trouble[kind];
  },
  "people list": async () => ({}),
  "audit write": async (context) => {
    context.actor();
    return {};
  },
  "notes all": async () => ({ notes: Array.from({ length: 60_000 }, () => "a".repeat(100)) }),
};

let nowMs = NOON_MS;
const { actor: _actor, capacity: _capacity, ...stores } = anActionContext(await freshTables(), { clock: () => nowMs });
const { ledger } = stores;
const handle = consoleHandler(actions, runs, settings, stores);
/** In a stage without a console. */
const handleBare = consoleHandler(actions, runs, undefined, stores);
const create = async (owner: string): Promise<string> => {
  const { account_id } = await createAccount(stores.accounts, { name: "notes", whitelist: [] });
  const owners = [{ kind: "email" as const, value: owner }];
  await changeAccount(stores.accounts, account_id, (account) => ({ ...account, owners }));
  return account_id;
};
const mine = await create("ada@example.com");
const others = await create("bola@example.com");

const person = (groups: readonly string[] = [], changes: Readonly<Record<string, unknown>> = {}) => ({
  iss: ISSUER,
  sub: "person-1",
  aud: "console",
  email: "Ada@example.com",
  email_verified: true,
  groups,
  ...changes,
});
const operator = person(["operators"]);
const reader = person(["readers"], { email: undefined });
const owner = person();
const nobody = person([], { email: "eve@example.com" });

type Sent = { readonly query?: Record<string, string>; readonly body?: unknown };

/** Sends a request with a new token that has been verified. A body makes it a POST. */
const send = (who: ReturnType<typeof person>, path: string, sent: Sent = {}, handler = handle) => {
  const claims = { ...who, iat: nowMs / 1_000, exp: nowMs / 1_000 + 3_600 };
  return sendVerified(
    `/console-api/${path}`,
    { jwt: { claims: textClaims(claims), scopes: null } },
    { authorization: `Bearer e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln` },
    sent,
    handler,
  );
};

const USER_ARN = "arn:aws:sts::123456789012:assumed-role/operators/ada@example.com";

/** Sends a request whose signature with AWS credentials has been verified. */
const sendSigned = (
  path: string,
  sent: Sent = {},
  headers: Record<string, string> = {},
  handler = handle,
  userArn = USER_ARN,
  role = "operator",
) => sendVerified(`/operations/${role}/${path}`, { iam: { userArn, cognitoIdentity: null } }, headers, sent, handler);

const sendVerified = async (
  path: string,
  authorizer: object,
  headers: Record<string, string>,
  { query, body }: Sent,
  handler = handle,
) => {
  const method = body === undefined ? "GET" : "POST";
  const [, base, ...words] = path.split("/");
  const [role, ...rest] = base === "operations" ? words : [undefined, ...words];
  const event = anApiEvent({
    method,
    path,
    routeKey: `${method} /${base}/${role === undefined ? "" : "{role}/"}{path+}`,
    pathParameters: { ...(role !== undefined && { role }), path: rest.join("/") },
    headers,
    ...(query && { query }),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const response = await handler({ ...event, requestContext: { ...event.requestContext, authorizer } });
  return {
    status: response.statusCode,
    code: response.headers["x-error-code"],
    headers: response.headers,
    body: JSON.parse(response.body ?? ""),
  };
};

test("an action's output is in the success envelope, which nothing may store", async () => {
  const { status, headers, body } = await send(operator, "notes/list", { query: { account: others, limit: "3" } });
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    "cache-control": "no-store",
    "content-type": "application/json; charset=utf-8",
    "x-content-type-options": "nosniff",
    "x-request-id": "req-0001",
  });
  expect(body).toEqual({
    status: true,
    message: "Done",
    data: { text: "to 08031234567", limit: 3, capacity: "operator" },
  });
});

describe("an operator who signs with AWS credentials", () => {
  const body = { text: "new", by: "eve", caller_arn: "arn:of:eve", why: "test" };

  test("is on record with the verified ARN and the name of its session, whatever the body says", async () => {
    const { status, body: answer } = await sendSigned("notes/change", { body: { ...body, account: others } });
    expect(status).toBe(200);
    expect(answer.data).toEqual({ by: "ada@example.com", caller_arn: USER_ARN });
  });

  test("may give a name, which stands beside the ARN", async () => {
    const named = { "x-operator-name": encodeURIComponent("Adá Obi") };
    const { body: answer } = await sendSigned("notes/change", { body: { ...body, account: others } }, named);
    expect(answer.data).toEqual({ by: "Adá Obi", caller_arn: USER_ARN });
  });

  test.each(["%", "%00", "%20", "x".repeat(101)])("is refused with the name %s", async (name) => {
    const answer = await sendSigned("notes/list", { query: { account: others } }, { "x-operator-name": name });
    expect(answer).toMatchObject({ status: 422, code: "validation_failed" });
  });

  test("gets the answers of an operator who signed in: of every account and unmasked, but needs no reason locally", async () => {
    const query = { account: others };
    expect(await sendSigned("notes/list", { query })).toEqual(await send(operator, "notes/list", { query }));
    expect(await sendSigned("money/give", { body: {} })).toMatchObject({ status: 200 });
    expect(await sendSigned("no/such")).toMatchObject({ status: 404 });
    const inFlight = { body: { kind: "in_flight" } };
    expect(await sendSigned("trouble/make", inFlight)).toEqual(await send(operator, "trouble/make", inFlight));
  });

  test("needs a reason for what an operator who signed in needs one for, on a deployed stage", async () => {
    vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "prod-console-api");
    onTestFinished(() => void vi.unstubAllEnvs());
    const without = await sendSigned("money/give", { body: {} });
    expect([without.status, without.code]).toEqual([400, "missing_parameter"]);
    expect(without.body.errors).toEqual({ why: ["Is required"] });
    expect(await sendSigned("money/give", { body: { why: "because" } })).toMatchObject({ status: 200 });
  });

  test("is served in a stage without a console, where a token is worth nothing", async () => {
    const sent = { query: { account: others } };
    expect(await sendSigned("notes/list", sent, {}, handleBare)).toMatchObject({ status: 200 });
    captureLog();
    expect(await send(operator, "notes/list", sent, handleBare)).toMatchObject({ status: 500 });
  });
});

test.each([
  ["without a role", owner],
  ["who also is a reader", person(["readers"])],
  ["who also has a role that may not do it", person(["support"])],
])("an owner %s acts on the own account as an owner", async (_, who) => {
  const { body } = await send(who, "notes/list", { query: { account: mine } });
  expect(body.data).toEqual({ text: "to 08031234567", capacity: "owner" });
});

test("a reader sees phone numbers masked, but not those of an own account", async () => {
  const read = await send(reader, "notes/list", { query: { account: mine } });
  expect(read.body.data.text).toBe("to *********67");
  const own = await send(person(["readers"]), "notes/list", { query: { account: mine } });
  expect(own.body.data.text).toBe("to 08031234567");
});

test("a person in two groups may do what either role may, and is masked as the wider of those that may", async () => {
  const both = person(["auditors", "support"]);
  const query = { account: others };
  expect((await send(both, "notes/list", { query })).body.data.text).toBe("to *********67");
  expect((await send(both, "notes/answer", { query })).body.data.text).toBe("to *******4567");
  expect((await send(person(["support"]), "notes/list", { query })).status).toBe(403);
});

test("a reader who owns an account changes that one only, and is on record", async () => {
  const both = person(["readers"]);
  const changed = await send(both, "notes/change", { body: { account: mine, text: "a" } });
  expect([changed.status, changed.body.data]).toEqual([200, { by: "ada@example.com", person: "person-1" }]);
  expect((await send(both, "notes/change", { body: { account: others, text: "a" } })).status).toBe(403);
});

test("an owner gets the same answer about another owner's account as about none", async () => {
  const foreign = await send(owner, "notes/list", { query: { account: others } });
  const unknown = await send(owner, "notes/list", { query: { account: "acc_none" } });
  expect(foreign.status).toBe(404);
  expect(foreign.code).toBe("not_found");
  expect(foreign.body).toEqual({ status: false, message: `There is no account ${others}` });
  expect(JSON.stringify(unknown).replaceAll("acc_none", others)).toBe(JSON.stringify(foreign));
});

test("an account that does not exist is 404 for operators and readers", async () => {
  expect((await send(operator, "notes/list", { query: { account: "acc_none" } })).status).toBe(404);
  expect((await send(reader, "notes/list", { query: { account: "acc_none" } })).status).toBe(404);
});

test("the account of what another field names may be left out by operators, and by readers of a read", async () => {
  const people = [operator, reader, owner, nobody];
  const statuses = async (path: string, body?: object) =>
    Promise.all(people.map(async (claims) => (await send(claims, path, { ...(body && { body }) })).status));
  expect(await statuses("notes/find")).toEqual([200, 200, 403, 403]);
  expect(await statuses("notes/move", {})).toEqual([200, 403, 403, 403]);
  const refused = await send(owner, "notes/find");
  expect(refused.body.message).toBe("Only people with a role in the service may leave out the account");
});

test("an owner is refused what is of the service, and learns who may", async () => {
  const { status, body } = await send(owner, "notes/all");
  expect([status, body.message]).toEqual([403, "Only people with a role in the service may do this"]);
});

test("a person without a role is refused, and learns whom to ask", async () => {
  const { status, code, body } = await send(nobody, "notes/list", { query: { account: mine } });
  expect([status, code]).toEqual([403, "not_allowed"]);
  expect(body.message).toContain("Ask an operator");
});

test("groups that only contain the operators' name give no role", async () => {
  for (const groups of [["x operators"], ["operators other"], ["Operators"], ["[operators]"]]) {
    const claims = { ...nobody, groups };
    expect((await send(claims, "money/give", { body: { why: "because" } })).status).toBe(403);
  }
});

test.each([
  { name: "irreversible", path: "notes/burn", claims: owner },
  { name: "about money", path: "money/give", claims: operator },
])("an action that is $name needs a reason", async ({ path, claims }) => {
  const without = await send(claims, path, { body: { account: mine } });
  expect([without.status, without.code]).toEqual([400, "missing_parameter"]);
  expect(without.body.errors).toEqual({ why: ["Is required"] });
  expect((await send(claims, path, { body: { account: mine, why: "because" } })).status).toBe(200);
});

test("a reader is refused a change whatever its input says", async () => {
  const { status, body } = await send(reader, "notes/burn", { body: { account: mine } });
  expect(status).toBe(403);
  expect(body.message).toBe("This is not allowed to the role reader");
});

test("a read that writes an audit entry is a fault of the service", async () => {
  expect((await send(operator, "audit/write")).status).toBe(500);
});

test.each([
  { kind: "not_found", status: 404, code: "not_found", message: "There is no such note" },
  { kind: "not_allowed", status: 403, code: "not_allowed", message: "Only operators may" },
  { kind: "in_flight", status: 409, code: "in_flight", message: "It is on its way" },
  { kind: "refused", status: 409, code: "refused", message: "The note is frozen" },
])("the error $kind is $status without the admin command", async ({ kind, status, code, message }) => {
  const answer = await send(operator, "trouble/make", { body: { kind } });
  expect([answer.status, answer.code]).toEqual([status, code]);
  expect(answer.body).toEqual({ status: false, message });
  expect(answer.headers["retry-after"]).toBe(kind === "in_flight" ? "2" : undefined);
});

test("a refusal of one field names it to a page, and not to a command, which prints the message alone", async () => {
  const refused = { status: false, message: "The text was used before" };
  const sent = { body: { kind: "wrong_field" } };
  expect((await send(operator, "trouble/make", sent)).body).toEqual({
    ...refused,
    errors: { text: [refused.message] },
  });
  expect((await sendSigned("trouble/make", sent)).body).toEqual({
    ...refused,
    message: `${refused.message}. notes list shows it`,
  });
});

test("an unexpected error is 500, raises an alarm and shows nothing of itself", async () => {
  const log = captureLog();
  const answer = await send(operator, "trouble/make", { body: { kind: "unexpected" } });
  expect([answer.status, answer.code]).toEqual([500, "internal_error"]);
  expect(JSON.stringify([answer, log.text()])).not.toContain("secret text");
  expect(log.lines()).toMatchObject([
    { event: "console.failed", Alarms: 1, error: "Error", request_id: "req-0001", route: "POST trouble/make" },
    { event: "console.answered", status: 500 },
  ]);
});

test.each([
  { name: "the other method", path: "notes/list", body: { account: "acc_1" } },
  { name: "no action", path: "notes" },
  { name: "an inherited name", path: "constructor" },
  { name: "another case", path: "Notes/list" },
  { name: "the action's name with a space", path: "notes list" },
])("a request with $name is 404", async ({ path, body }) => {
  const answer = await send(operator, path, { body });
  expect([answer.status, answer.code]).toEqual([404, "not_found"]);
});

/** Sends an event of a signed request as API Gateway makes it; resolves with the status. */
const sendAt = async (rawPath: string, role: string, path: string, stage = "$default"): Promise<unknown> => {
  const event = anApiEvent({
    path: rawPath,
    routeKey: "GET /operations/{role}/{path+}",
    pathParameters: { role, path },
    query: { account: others },
  });
  const authorizer = { iam: { userArn: USER_ARN, cognitoIdentity: null } };
  return (await handle({ ...event, requestContext: { ...event.requestContext, stage, authorizer } })).statusCode;
};

test.each([
  "/operations/reader/../operator/notes/list",
  "/operations/reader/%2e%2e/operator/notes/list",
  "/operations//operator/notes/list",
  "/operations/reader/notes/list",
  "/operations/reader/notes/list/../../../operator/notes/list",
  "/x/operations/operator/notes/list",
  "/prod/operations/operator/notes/list",
  // The rest of the path behind a decoded question mark is gone.
  "/operations/operator/notes/lis",
])("a request whose path %s is not that of its role and action is 404", async (rawPath) => {
  expect(await sendAt(rawPath, "operator", "notes/list")).toBe(404);
});

test.each([
  // `/operations/operator/notes%2Flist`: path and parameters are decoded.
  { name: "an encoded slash", rawPath: "/operations/operator/notes/list" },
  // At a domain, also with the key of a mapping, `rawPath` is the same.
  { name: "a named stage", rawPath: "/live/operations/operator/notes/list", stage: "live" },
])("a signed request with $name is that of its role and action", async ({ rawPath, stage }) => {
  expect(await sendAt(rawPath, "operator", "notes/list", stage)).toBe(200);
});

test.each([
  // `/operations/operator%2Fx/notes/list`, if the parameter keeps the slash: no role has this name.
  {
    name: "an encoded slash in the role",
    rawPath: "/operations/operator/x/notes/list",
    role: "operator/x",
    status: 404,
  },
  { name: "a space in the role", rawPath: "/operations/operator /notes/list", role: "operator ", status: 403 },
  { name: "an inherited name", rawPath: "/operations/constructor/notes/list", role: "constructor", status: 403 },
  { name: "a role that may not do it", rawPath: "/operations/support/notes/list", role: "support", status: 403 },
  { name: "another alphabet", rawPath: "/operations/operator/notes/list\u0131", path: "notes/list\u0131", status: 404 },
  { name: "a stage that the path lacks", rawPath: "/operations/operator/notes/list", stage: "live", status: 404 },
])(
  "a signed request with $name gets nothing",
  async ({ rawPath, role = "operator", path = "notes/list", stage, status }) => {
    expect(await sendAt(rawPath, role, path, stage)).toBe(status);
  },
);

test("an answer that Lambda would refuse is a refusal that says why, and no fault", async () => {
  const answer = await send(operator, "notes/all");
  expect([answer.status, answer.code]).toEqual([409, "refused"]);
  expect(answer.body.message).toBe(
    'The answer takes 6.3 MB, and AWS Lambda answers at most 6 MB: ask for less, or see "Fixed limits" in docs/scale.md',
  );
});

test("input is checked before the permission, and fields are named", async () => {
  const absent = await send(nobody, "notes/list");
  expect([absent.status, absent.body.errors]).toEqual([400, { account: ["Is required"] }]);
  const wrong = await send(operator, "notes/list", { query: { account: mine, limit: "x" } });
  expect([wrong.status, Object.keys(wrong.body.errors)]).toEqual([422, ["limit"]]);
  const list = await send(operator, "notes/burn", { body: [] });
  expect([list.status, list.code]).toEqual([400, "invalid_json"]);
});

test("an access token is 401", async () => {
  const answer = await send({ ...operator, ...{ scope: "openid" } }, "notes/list");
  expect([answer.status, answer.code]).toEqual([401, "wrong_token"]);
});

test("a token that the authorizer did not verify is 500 and raises an alarm", async () => {
  const log = captureLog();
  const event = anApiEvent({ pathParameters: { path: "notes/list" }, headers: { authorization: "Bearer a.b.c" } });
  const response = await handle(event);
  expect(response.statusCode).toBe(500);
  expect(log.lines()).toMatchObject([
    { event: "console.failed", Alarms: 1, error: "UnverifiedTokenError" },
    { event: "console.answered", status: 500 },
  ]);
});

test("the log line says who did what in which capacity, without address and input", async () => {
  const log = captureLog();
  await send(owner, "notes/change", { body: { account: mine, text: "very private" } });
  await send(nobody, "notes/change", { body: { account: mine, text: "very private" } });
  const common = { level: "info", event: "console.answered", request_id: "req-0001", route: "POST notes/change" };
  expect(log.lines()).toEqual([
    { ...common, status: 200, role: "owner", account: mine, person: "person-1", duration_ms: expect.any(Number) },
    {
      ...common,
      status: 403,
      code: "not_allowed",
      role: "none",
      person: "person-1",
      duration_ms: expect.any(Number),
    },
  ]);
});

describe("a read of personal data", () => {
  const readsOf = async (log: string) =>
    (await readAudit(ledger, log))
      .filter(({ action }) => action === "people list")
      .map(({ by, caller_arn, source_ip, details }) => ({ by: caller_arn ?? by, source_ip, details }));

  test("by an operator or a reader is in the account's log with the address, and by its owner it is not", async () => {
    for (const who of [operator, reader, owner]) {
      expect(await send(who, "people/list", { query: { account: mine } })).toMatchObject({ status: 200 });
    }
    await sendSigned("people/list", { query: { account: mine } });
    expect(await readsOf(mine)).toEqual(
      expect.arrayContaining([
        { by: "ada@example.com", source_ip: "203.0.113.7", details: {} },
        { by: "person-1", source_ip: "203.0.113.7", details: {} },
        { by: USER_ARN, source_ip: "203.0.113.7", details: {} },
      ]),
    );
    expect(await readsOf(mine)).toHaveLength(3);
  });

  test("that cannot be recorded shows nothing", async () => {
    const writes = vi.spyOn(ledger.db, "transactWrite").mockRejectedValueOnce(new Error("No answer"));
    const answer = await send(operator, "people/list", { query: { account: mine, reference: "unrecorded" } });
    writes.mockRestore();
    expect(answer).toMatchObject({ status: 500 });
    expect((await readsOf(mine)).some(({ details }) => details.reference === "unrecorded")).toBe(false);
  });

  test("without an account is in the service's log with what was asked, a phone number in it masked", async () => {
    await send(operator, "people/list", { query: { reference: "08031234567" } });
    expect(await readsOf(SERVICE)).toEqual([
      { by: "ada@example.com", source_ip: "203.0.113.7", details: { reference: "*********67" } },
    ]);
  });

  test("has what the browser called itself, cut and without numbers", async () => {
    const agent = `Mozilla/5.0 (X11; Linux x86_64) of 0803 123 4567 ${"x".repeat(300)}`;
    await sendSigned("people/list", { query: { account: mine, reference: "agent" } }, { "user-agent": agent });
    const entry = (await readAudit(ledger, mine)).find(({ details }) => details.reference === "agent");
    expect(entry?.user_agent).toMatch(/^Mozilla\/5\.0 \(X11; Linux x86_64\) of [*\d ]+x+$/);
    expect(entry?.user_agent).toHaveLength(200);
    expect(entry?.user_agent).not.toMatch(/0803|123|456/);
  });

  test("is recorded once for its pages and for 15 minutes, and then again", async () => {
    const ask = (cursor?: string) =>
      send(operator, "people/list", { query: { account: others, ...(cursor && { cursor }) } });
    await ask();
    await ask("page-2");
    nowMs += 15 * 60_000 - 1;
    await ask();
    expect(await readsOf(others)).toHaveLength(1);
    nowMs += 1;
    await ask();
    expect(await readsOf(others)).toHaveLength(2);
    // The clock was ahead, and is set back.
    nowMs -= 3_600_000;
    await ask();
    expect(await readsOf(others)).toHaveLength(3);
  });

  test("is recorded for each of two numbers with the same last two digits", async () => {
    const before = (await readsOf(SERVICE)).length;
    for (const reference of ["08031111167", "08099999967"]) {
      expect(await send(operator, "people/list", { query: { reference } })).toMatchObject({ status: 200 });
    }
    expect((await readsOf(SERVICE)).length - before).toBe(2);
  });

  test("that is refused shows nothing and is not recorded", async () => {
    const before = (await readsOf(mine)).length;
    expect(await send(nobody, "people/list", { query: { account: mine } })).toMatchObject({ status: 403 });
    expect(await readsOf(mine)).toHaveLength(before);
  });
});

describe("a search", () => {
  /** An operator is the function that gives the ARN of each request. */
  const searchAs = async (who: ReturnType<typeof person> | ((number: number) => string), count: number) => {
    const { actor: _, capacity: __, ...stores } = anActionContext(await freshTables(), { clock: () => nowMs });
    const search = consoleHandler(searchActions, searchRuns, settings, stores);
    const statuses: (number | undefined)[] = [];
    for (let number = 0; number < count; number += 1) {
      const body = { text: `text-${number}` };
      const { status } = await (typeof who === "function"
        ? sendSigned("search", { body }, { "x-operator-name": `eve-${number}` }, search, who(number))
        : send(who, "search", { body }, search));
      statuses.push(status);
    }
    return { statuses, recorded: (await readAudit(stores.ledger, SERVICE)).length };
  };

  test("by a person without a role or an account is refused and not recorded", async () => {
    expect(await searchAs(nobody, 2)).toEqual({ statuses: [403, 403], recorded: 0 });
  });

  test("beyond the limit is refused and not recorded, whatever the operator and the session of the role are called", async () => {
    const session = (number: number) => `arn:aws:sts::123456789012:assumed-role/operators/eve-${number}`;
    const { statuses, recorded } = await searchAs(session, SEARCHES_PER_MINUTE + 2);
    expect(statuses.slice(-3)).toEqual([200, 429, 429]);
    expect(recorded).toBe(SEARCHES_PER_MINUTE);
  });
});
