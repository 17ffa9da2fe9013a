import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "#zod";
import { requireAccount } from "../../../../shared/access/account-store.ts";
import { createAccount, setAccountLimits, setEntitlements } from "../../../../shared/access/accounts.ts";
import { type FourEyes, fourEyesSettings } from "../../../../shared/actions/four-eyes.ts";
import { countApprovable, propose } from "../../../../shared/actions/proposals.ts";
import { consoleRuns } from "../../../../shared/actions/runs.ts";
import { consoleHandler } from "../../../../shared/console/console-handler.ts";
import { consoleSettings } from "../../../../shared/console/console-settings.ts";
import { consoleActions } from "../../../../shared/contract/actions/actions.ts";
import type { Role } from "../../../../shared/contract/roles.ts";
import { koboFromNaira } from "../../../../shared/contract/values/money.ts";
import { readAudit } from "../../../../shared/ledger/audit.ts";
import { readFunding } from "../../../../shared/ledger/ledger-entry.ts";
import { readProposal } from "../../../../shared/ledger/proposal.ts";
import { walletPk } from "../../../../shared/ledger/schema.ts";
import { settleTransaction } from "../../../../shared/ledger/settle-transaction.ts";
import { referenceOf } from "../../../../shared/ledger/transaction.ts";
import type { DocumentClient } from "../../../../shared/platform/aws-clients.ts";
import { deadlineIn } from "../../../../shared/platform/deadline.ts";
import { enqueueOrder } from "../../../../shared/queued-orders/queue-store.ts";
import { discardEvent } from "../../../../shared/upstream-events/operator-resolution.ts";
import { recordEvent, storedEventId } from "../../../../shared/upstream-events/stored-event.ts";
import { textClaims } from "../../../../tools/local/jwt-authorizer.ts";
import { anApiEvent } from "../../../builders/aws/api-event.ts";
import { afterNext, beforeNext } from "../../../builders/dynamodb/another-process.ts";
import { changeItem } from "../../../builders/dynamodb/change-item.ts";
import { anActionContext, anOwnersRequest } from "../../../builders/ledger/action-context.ts";
import { openOperatorLedger } from "../../../builders/ledger/operator-ledger.ts";
import { claimedAsSender, storedQueued } from "../../../builders/ledger/queued-order.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";
import { aTransactionPk, storedEventUnder } from "../../../builders/upstream/event-message.ts";

/**
 * Goal: what one person proposes is carried out once, exactly, and only by another person. Method: verified requests of
 * people with tokens and with AWS credentials go through the handler of console-api, with its actions.
 */
const ISSUER = "https://login.example.com/";
const settings = consoleSettings.parse({
  issuer: ISSUER,
  clientId: "console",
  operatorGroup: "operators",
  financeGroup: "finance",
  readerGroup: "readers",
});
const ACCOUNT = "123456789012";
const adaAtAws = `arn:aws:iam::${ACCOUNT}:user/ada`;
const adaInIdentityCenter = `arn:aws:sts::${ACCOUNT}:assumed-role/AWSReservedSSO_operate_0123/ada@example.com`;
const adasRole = `arn:aws:sts::${ACCOUNT}:assumed-role/adas-laptop`;
const bolaAtAws = `arn:aws:iam::${ACCOUNT}:user/bola`;
const fourEyes: FourEyes = {
  ...fourEyesSettings.parse({
    resolveAboveNaira: 600,
    people: { ada: [adaAtAws, adaInIdentityCenter, adasRole], bola: [bolaAtAws] },
  }),
  issuer: ISSUER,
};

/** Who asks: a person with a token, or with AWS credentials in a role. */
type Asker =
  | { readonly sub: string; readonly groups: readonly string[]; readonly email?: string }
  | { readonly arn: string; readonly role?: string; readonly by?: string };
const ada = { sub: "ada", groups: ["operators"] };
const bola = { sub: "bola", groups: ["operators"] };
const fay = { sub: "fay", groups: ["finance"] };

const ledger = await openOperatorLedger();
beforeAll(async () => {
  await Promise.all([ada, bola].map((person) => send(person, "me", {})));
});

const envelope = z.object({ message: z.string(), data: z.optional(z.record(z.string(), z.unknown())) });

type Options = {
  readonly nowMs?: number;
  readonly db?: DocumentClient;
  readonly rules?: FourEyes | "off";
  readonly naira?: number;
};

const send = async (
  asker: Asker,
  name: keyof typeof consoleActions,
  input: object,
  { nowMs = NOON_MS, db = ledger.tables.db, rules = fourEyes, naira = 1_000_000 }: Options = {},
) => {
  const { actor: _, capacity: __, ...stores } = anActionContext(ledger.tables, { clock: () => nowMs });
  const context = {
    ...stores,
    fourEyes: rules === "off" ? undefined : rules,
    operatorActMax: koboFromNaira(naira),
    ledger: { ...stores.ledger, db },
    accounts: { ...stores.accounts, db },
  };
  const handle = consoleHandler(consoleActions, consoleRuns, settings, context, { propose });
  const method = consoleActions[name].kind === "read" ? "GET" : "POST";
  const path = name.replaceAll(" ", "/");
  const isAws = "arn" in asker;
  const claims = { iss: ISSUER, aud: "console", iat: nowMs / 1_000, exp: nowMs / 1_000 + 600, ...asker };
  const event = anApiEvent({
    method,
    path: `/${isAws ? `operations/${asker.role ?? "operator"}` : "console-api"}/${path}`,
    routeKey: `${method} ${isAws ? "/operations/{role}/{path+}" : "/console-api/{path+}"}`,
    pathParameters: { ...(isAws && { role: asker.role ?? "operator" }), path },
    headers: isAws
      ? { ...(asker.by !== undefined && { "x-operator-name": asker.by }) }
      : { authorization: `Bearer e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln` },
    ...(method === "POST" ? { body: JSON.stringify(input) } : { query: { ...input } }),
  });
  const authorizer = isAws ? { iam: { userArn: asker.arn } } : { jwt: { claims: textClaims(claims), scopes: null } };
  const { statusCode, body = "" } = await handle({ ...event, requestContext: { ...event.requestContext, authorizer } });
  const { message, data = {} } = envelope.parse(JSON.parse(body));
  return { status: statusCode, message, data };
};

const proposalIn = ({ data }: { readonly data: Readonly<Record<string, unknown>> }) =>
  z.looseObject({ proposal: z.string() }).parse(data.proposal);

const refusal = (status: number, message: string) => ({ status, message: expect.stringContaining(message) });
/** The proposal as the list shows it to a person. */
const listed = async (asker: Asker, id: string, input: object = {}, options: Options = {}) => {
  const { data } = await send(asker, "proposals list", input, options);
  const proposals = z.array(z.looseObject({ proposal: z.string() })).parse(data.proposals);
  return proposals.find(({ proposal }) => proposal === id);
};

/** A proposal of ada to credit 500 NGN. */
const aProposal = async (by: Asker = ada) => {
  const account = await ledger.anAccount();
  const input = { account: account.accountId, amount_kobo: 500_00, id: randomUUID(), why: "transfer" };
  const answer = await send(by, "wallet fund", input);
  expect(answer.status, answer.message).toBe(202);
  return { ...account, input, id: proposalIn(answer).proposal };
};

/** Those of limits, entitlements, prices and matches are below, with what needs another person. */
test("each proposal of money says what would happen, and to which account by its id, because an operator may give two accounts one name", async () => {
  const [delivered, lost, found] = await Promise.all(
    [500, 900, 900].map((naira) => ledger.anOrder({ amount_kobo: koboFromNaira(naira) })),
  );
  const { accountId: account } = await ledger.anAccount();
  if (!delivered || !lost || !found) throw new Error("An order is missing");
  await settleTransaction(ledger.ledgerAt(), delivered.transaction, { status: "success" }, deadlineIn(9_000));
  const [refunded = "", failed = "", kept = ""] = [delivered, lost, found].map(({ transaction }) =>
    referenceOf(transaction),
  );
  const first = `first-${account}`;
  const [of, ofLost] = [`${account} (test)`, `${failed} of ${lost.accountId} (test)`];
  const ofKept = `${kept} of ${found.accountId} (test)`;
  const resolve = (reference: string, status: string) => ({ reference, status });
  const sentences: readonly (readonly [keyof typeof consoleActions, object, string])[] = [
    ["wallet adjust", { account, amount_kobo: 100, id: "gift" }, `Gives NGN 1.00 to ${of} (gift)`],
    ["wallet adjust", { account, amount_kobo: -100, id: "fee" }, `Takes NGN 1.00 from ${of} (fee)`],
    ["wallet reverse", { account, id: first }, `Takes the funding ${first} of NGN 1,000.00 back from ${of}`],
    ["float fund", { amount_kobo: 100, id: "g-1" }, "Books a payment of NGN 1.00 to the upstream (g-1)"],
    ["float fund", { amount_kobo: -100, id: "g-2" }, "Takes NGN 1.00 from the payments to the upstream (g-2)"],
    [
      "transactions refund",
      { reference: refunded },
      `Gives NGN 500.00 for ${refunded} back to ${delivered.accountId} (test)`,
    ],
    ["transactions resolve", resolve(failed, "failed"), `Settles ${ofLost} as failed for good and refunds NGN 900.00`],
    [
      "transactions resolve",
      resolve(kept, "success"),
      `Settles ${ofKept} as success for good, which keeps the NGN 900.00 that it cost`,
    ],
  ];
  const proposed: unknown[] = [];
  for (const [action, input] of sentences) {
    const { proposal, ...shown } = proposalIn(await send(ada, action, { ...input, why: "ticket" }));
    expect(shown).toMatchObject({ why: "ticket", broke_glass: false });
    proposed.push([shown.consequence, shown.amount, shown.balance_before, shown.balance_after]);
    await send(ada, "proposals reject", { proposal, why: "tried" });
  }
  /** In naira: the amount, and the balances before and after. */
  const amounts = [
    [1, 1_000, 1_001],
    [-1, 1_000, 999],
    [-1_000, 1_000, 0],
    [1, null, null],
    [-1, null, null],
    [500, 500, 1_000],
    [900, 100, 1_000],
    [900, 100, 100],
  ];
  expect(proposed).toEqual(sentences.map(([, , sentence], index) => [sentence, ...(amounts[index] ?? [])]));
});

const auditOf = async (account: string) =>
  (await readAudit(ledger.ledgerAt(), account)).map(({ by, action, details }) => ({ by, action, details }));

test("a funding is proposed by one person and approved by another: then it is credited once, and both are on record", async () => {
  const { accountId, balance, input, id, isReconciled } = await aProposal();
  expect(await balance()).toBe(1_000);
  expect(await listed(fay, id)).toMatchObject({
    state: "open",
    consequence: `Credits NGN 500.00 to ${accountId} (test) for the transfer ${input.id}`,
    amount: 500,
    balance_before: 1_000,
    balance_after: 1_500,
    proposed_by: "ada",
    why: "transfer",
    refusal: null,
  });
  expect(await send(fay, "proposals approve", { proposal: id })).toMatchObject({
    status: 200,
    data: { state: "approved", decided_by: "fay", broke_glass: false, repeated: false },
  });
  expect([await balance(), await isReconciled()]).toEqual([1_500, true]);
  expect(await readFunding(ledger.ledgerAt(), input.id)).toMatchObject({ account_id: accountId, amount_kobo: 500_00 });
  expect(await auditOf(accountId)).toMatchObject([
    { by: "ada", action: "proposals propose", details: { proposal: id, action: "wallet fund" } },
    { by: "fay", action: "wallet fund", details: { proposal: id, id: input.id, amount: 500 } },
  ]);
  expect(await send(fay, "proposals approve", { proposal: id })).toMatchObject({ data: { repeated: true } });
  expect(await send(bola, "proposals reject", { proposal: id, why: "too late" })).toMatchObject(
    refusal(409, "was approved by fay"),
  );
  expect(await balance()).toBe(1_500);
});

describe("nobody approves their own proposal", () => {
  const ways: Readonly<Record<string, Asker>> = {
    "in the console": ada,
    "under another name and address at the provider": { ...ada, email: "bola@example.com" },
    "in another role": { ...ada, groups: ["finance"] },
    "with the own IAM user": { arn: adaAtAws },
    "with the own IAM user, under another name": { arn: adaAtAws, by: "bola" },
    "with the own IAM user, in the role finance": { arn: adaAtAws, role: "finance" },
    "with the own session of IAM Identity Center": { arn: adaInIdentityCenter },
    "with the own role, in a session with another's name": { arn: `${adasRole}/bola` },
    "with a role that is nobody's, in a session with another's name": {
      arn: `arn:aws:sts::${ACCOUNT}:assumed-role/operators/bola`,
    },
    "with an IAM user that is nobody's": { arn: `arn:aws:iam::${ACCOUNT}:user/spare` },
    "with an IAM user of a like name in another account": { arn: "arn:aws:iam::999999999999:user/bola" },
  };

  test.each([
    ["in the console", ada],
    ["at the command line", { arn: adaInIdentityCenter }],
  ])("that was made %s, whatever they try", async (_, by) => {
    const { id, balance } = await aProposal(by);
    for (const [way, asker] of Object.entries(ways)) {
      const { status, message } = await send(asker, "proposals approve", { proposal: id });
      expect([status, message], way).toEqual([403, expect.stringMatching(/You proposed it|belongs to nobody/)]);
    }
    expect(await balance()).toBe(1_000);
    expect(await send({ arn: bolaAtAws }, "proposals approve", { proposal: id })).toMatchObject({ status: 200 });
    expect(await balance()).toBe(1_500);
  });

  test("and an AWS identity that is nobody's proposes nothing, because nobody could approve it", async () => {
    const { accountId: account, balance } = await ledger.anAccount();
    const input = { account, amount_kobo: 500_00, id: randomUUID(), why: "transfer" };
    const stranger = { arn: `arn:aws:sts::${ACCOUNT}:assumed-role/operators/ada` };
    expect(await send(stranger, "wallet fund", input)).toMatchObject(refusal(403, "fourEyes.people"));
    expect(await balance()).toBe(1_000);
  });

  test.each(["ada@example.com", "Ada", "spare"])(
    "and an AWS identity of the subject %s, who never signed in, neither proposes nor approves",
    async (subject) => {
      const rules = { ...fourEyes, people: { [subject]: [adaAtAws] } };
      const { id, input, balance } = await aProposal();
      for (const [name, fields] of [
        ["wallet fund", { ...input, id: randomUUID() }],
        ["proposals approve", { proposal: id }],
      ] as const) {
        expect(await send({ arn: adaAtAws }, name, fields, { rules })).toMatchObject({
          status: 403,
          message: expect.stringMatching(new RegExp(`belongs to ${subject}, .*: sign in there once`)),
        });
      }
      expect(await balance()).toBe(1_000);
    },
  );

  test("in a stage without a console, where the keys of people are names that the company chose", async () => {
    const rules = { ...fourEyesSettings.parse({ people: { "Ada's": [adaAtAws], bola: [bolaAtAws] } }) };
    const { accountId: account, balance } = await ledger.anAccount();
    const input = { account, amount_kobo: 500_00, id: randomUUID(), why: "transfer" };
    const { proposal } = proposalIn(await send({ arn: adaAtAws }, "wallet fund", input, { rules }));
    expect(await send({ arn: adaAtAws }, "proposals approve", { proposal }, { rules })).toMatchObject({ status: 403 });
    expect(await send({ arn: adasRole }, "proposals approve", { proposal }, { rules })).toMatchObject({
      status: 403,
      message: expect.stringMatching(/the other person's: have the identity added$/),
    });
    expect(await send({ arn: bolaAtAws }, "proposals approve", { proposal }, { rules })).toMatchObject({ status: 200 });
    expect(await balance()).toBe(1_500);
  });

  test("and readers, and roles that may not do the action, approve nothing", async () => {
    const { id } = await aProposal();
    const reader = { sub: "rea", groups: ["readers"] };
    expect(await send(reader, "proposals approve", { proposal: id })).toMatchObject({ status: 403 });
    const { accountId: account } = await ledger.anAccount();
    const correction = { account, amount_kobo: -500_00, id: "case-1", why: "ticket 88" };
    const adjustment = proposalIn(await send(ada, "wallet adjust", correction)).proposal;
    expect(await send(fay, "proposals approve", { proposal: adjustment })).toMatchObject({
      status: 403,
      message: "Your role may not do what is proposed",
    });
    const rejection = { proposal: adjustment, why: "ticket 89" };
    for (const asker of [fay, { arn: `arn:aws:iam::${ACCOUNT}:user/spare`, role: "finance" }]) {
      expect(await send(asker, "proposals reject", rejection)).toMatchObject({
        status: 403,
        message: "Your role may not do what is proposed, and another person proposed it",
      });
    }
    // The proposer may, in any role.
    expect(await send({ ...ada, groups: ["finance"] }, "proposals reject", rejection)).toMatchObject({ status: 200 });
  });
});

test("a proposal, its rejection and what it would do are stored without the phone numbers of their reasons", async () => {
  const { accountId: account } = await ledger.anAccount();
  const correction = { account, amount_kobo: -500_00, id: "case-1", why: "08031234567 paid twice" };
  const { proposal } = proposalIn(await send(ada, "wallet adjust", correction));
  expect(proposalIn(await send(ada, "wallet adjust", correction)).proposal).toBe(proposal);
  await send(bola, "proposals reject", { proposal, why: "08031234567 did not" });
  const stored = await readProposal(ledger.ledgerAt(), proposal);
  expect(stored).toMatchObject({ why: "*********67 paid twice", decided_why: "*********67 did not" });
  expect(JSON.stringify(stored)).not.toContain("0803123");
});

test("what was proposed under another identity provider is approved by nobody: it is proposed again", async () => {
  const { input, id, balance } = await aProposal();
  const rules = { ...fourEyes, issuer: "https://new.example.com/" };
  // The provider may have given ada another subject, or hers to another person.
  for (const asker of [ada, bola, fay]) {
    expect(await send(asker, "proposals approve", { proposal: id }, { rules })).toMatchObject({
      status: 403,
      message: expect.stringContaining("another identity provider"),
    });
  }
  expect(await balance()).toBe(1_000);
  const { proposal } = proposalIn(await send(ada, "wallet fund", input, { rules }));
  expect(proposal).not.toBe(id);
  expect(await send(bola, "proposals approve", { proposal }, { rules })).toMatchObject({ status: 200 });
  expect(await balance()).toBe(1_500);
});

test("a proposal of before the stage allowed less at once is refused with the setting's name, and approved once it allows it again", async () => {
  const { id, input, balance } = await aProposal();
  const refused = refusal(409, "raise operatorActMaxNaira");
  expect(await send(bola, "proposals approve", { proposal: id }, { naira: 499 })).toMatchObject(refused);
  const again = { ...input, id: randomUUID() };
  expect(await send(ada, "wallet fund", again, { naira: 499 })).toMatchObject(refused);
  expect(await balance()).toBe(1_000);
  expect(await listed(bola, id)).toMatchObject({ state: "open" });
  expect(await send(bola, "proposals approve", { proposal: id })).toMatchObject({ data: { state: "approved" } });
  expect(await balance()).toBe(1_500);
});

test("what was proposed before the stage gave up four eyes is done by one person, once, also after it has them again", async () => {
  const done = await aProposal();
  const unwanted = await ledger.anOrder({ amount_kobo: koboFromNaira(900) });
  const resolve = { reference: referenceOf(unwanted.transaction), status: "failed", why: "ticket" };
  const { proposal } = proposalIn(await send(ada, "transactions resolve", resolve));
  const alone = { rules: "off" } as const;
  const { data } = await send(bola, "proposals list", {}, alone);
  expect(data.proposals).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ proposal: done.id, refusal: expect.stringMatching(/fourEyes/) }),
    ]),
  );
  expect(await send(bola, "proposals approve", { proposal: done.id }, alone)).toMatchObject(refusal(403, "fourEyes"));
  expect(await send(ada, "wallet fund", done.input, alone)).toMatchObject({ status: 200 });
  const rejection = { proposal, why: "ticket" };
  expect(await send(fay, "proposals reject", rejection, alone)).toMatchObject(refusal(403, "Your role may not"));
  expect(await send(bola, "proposals reject", rejection, alone)).toMatchObject({ data: { state: "rejected" } });
  expect(await send(bola, "proposals approve", { proposal: done.id })).toMatchObject(refusal(409, "done before"));
  expect([await done.balance(), await unwanted.balance()]).toEqual([1_500, 100]);
});

test("a funding whose answer was lost before the stage had four eyes is named when it is repeated, and not proposed", async () => {
  const { accountId: account, balance } = await ledger.anAccount();
  const input = { account, amount_kobo: 500_00, id: randomUUID(), why: "transfer" };
  expect(await send(ada, "wallet fund", input, { rules: "off" })).toMatchObject({ status: 200 });
  expect(await send(ada, "wallet fund", input)).toMatchObject(refusal(409, "was recorded already, with NGN 500"));
  expect(await balance()).toBe(1_500);
});

test("nobody proposes or decides under another person's name: one that is given at the command line is marked", async () => {
  const { id } = await aProposal({ arn: adaAtAws, by: "fay@example.com" });
  const marked = "Command line (says: fay@example.com)";
  expect(await listed(bola, id)).toMatchObject({ proposed_by: marked });
  expect(await send({ arn: bolaAtAws, by: "fay@example.com" }, "proposals approve", { proposal: id })).toMatchObject({
    data: { state: "approved", decided_by: marked },
  });
});

/** A client in which something else happens at a call. */
const clientWith = (around: <Output>(call: () => Promise<Output>) => Promise<Output>): DocumentClient => {
  const { db } = ledger.tables;
  return {
    get: (input) => around(() => db.get(input)),
    put: (input) => around(() => db.put(input)),
    update: (input) => around(() => db.update(input)),
    query: (input) => around(() => db.query(input)),
    batchGet: (input) => around(() => db.batchGet(input)),
    transactWrite: (input) => around(() => db.transactWrite(input)),
  };
};

/** A client whose process dies at one call, before or after AWS has carried it out. */
const dyingClient = (at: number, moment: "before" | "after"): { readonly db: DocumentClient; calls: () => number } => {
  let calls = 0;
  const db = clientWith(async (call) => {
    calls += 1;
    if (calls > at || (calls === at && moment === "before")) throw new Error("The process died");
    const output = await call();
    if (calls === at) throw new Error("The process died");
    return output;
  });
  return { calls: () => calls, db };
};

test.each(["wallet fund", "transactions resolve", "accounts limits"] as const)(
  "of two people who approve %s at once one does it, and the other reads that it was done, wherever the first request is then",
  async (action) => {
    for (let at = 1; ; at += 1) {
      const { accountId: account, transaction: order } = await ledger.anOrder({ amount_kobo: koboFromNaira(900) });
      const fields = {
        "wallet fund": { account, amount_kobo: 500_00, id: randomUUID(), why: "transfer" },
        "transactions resolve": { reference: referenceOf(order), status: "failed", why: "ticket" },
        "accounts limits": { account, limits: { day_naira: 2_000 }, why: "ticket" },
      };
      await setAccountLimits(ledger.storeAt(), account, { day_naira: 1_000 });
      const { proposal } = proposalIn(await send(ada, action, fields[action]));
      const approve = (by: Asker, options?: Options) => send(by, "proposals approve", { proposal }, options);
      let calls = 0;
      let second: Awaited<ReturnType<typeof approve>> | undefined;
      const db = clientWith(async (call) => {
        calls += 1;
        if (calls === at) second = await approve({ arn: bolaAtAws });
        return call();
      });
      const answers = [await approve(bola, { db }), ...(second ? [second] : [])];
      for (const answer of answers)
        expect(answer, `call ${at}`).toMatchObject({ status: 200, data: { state: "approved" } });
      const first = answers.filter(({ data }) => data.repeated === false);
      expect(first, `call ${at}`).toHaveLength(1);
      expect((await auditOf(account)).filter((entry) => entry.action === action)).toHaveLength(1);
      if (calls < at) return expect(at).toBeGreaterThan(5);
    }
  },
);

test.each(["before", "after"] as const)(
  "an approver whose process dies %s any call of it, and who tries again, has one effect",
  async (moment) => {
    captureLog();
    for (let at = 1; ; at += 1) {
      const { id, balance, accountId } = await aProposal();
      const { db, calls } = dyingClient(at, moment);
      await send(bola, "proposals approve", { proposal: id }, { db });
      const isOver = calls() < at;
      const stored = await readProposal(ledger.ledgerAt(), id);
      expect(await balance(), `call ${at}`).toBe(stored?.state === "approved" ? 1_500 : 1_000);
      expect(await send(fay, "proposals approve", { proposal: id })).toMatchObject({ data: { state: "approved" } });
      expect(await balance(), `call ${at}`).toBe(1_500);
      expect((await auditOf(accountId)).filter(({ action }) => action === "wallet fund")).toHaveLength(1);
      if (isOver) return expect(at).toBeGreaterThan(5);
    }
  },
);

describe("a proposal", () => {
  test("that has expired cannot be approved, can be rejected, and can be made again", async () => {
    const { id, input, balance } = await aProposal();
    const later = { nowMs: NOON_MS + fourEyes.hours * 3_600_000 };
    expect(await send(bola, "proposals approve", { proposal: id }, later)).toMatchObject(refusal(403, "It expired"));
    expect(await listed(bola, id, { state: "all" }, later)).toMatchObject({ state: "expired" });
    expect(await balance()).toBe(1_000);
    const again = proposalIn(await send(ada, "wallet fund", input, later)).proposal;
    expect(again).not.toBe(id);
    expect(await send(ada, "proposals reject", { proposal: id, why: "too late" }, later)).toMatchObject({
      data: { state: "rejected", decided_by: "ada", decided_why: "too late" },
    });
  });

  test("that was rejected cannot be approved, also if it is rejected while it is approved, and is listed no more", async () => {
    const { id, balance } = await aProposal();
    const rejected = refusal(409, "was rejected by bola");
    const reject = () => send(bola, "proposals reject", { proposal: id, why: "no such transfer" });
    const { db } = ledger.tables;
    beforeNext(db, "transactWrite", async () => expect(await reject()).toMatchObject({ data: { repeated: false } }));
    expect(await send(fay, "proposals approve", { proposal: id })).toMatchObject(rejected);
    expect(await send(fay, "proposals approve", { proposal: id })).toMatchObject(rejected);
    expect(await reject()).toMatchObject({ data: { repeated: true } });
    expect(await listed(fay, id)).toBeUndefined();
    expect(await balance()).toBe(1_000);
  });

  test.each([
    [{ input: "{}" }, refusal(409, "This version cannot read what was proposed")],
    [{ action: "wallet threshold" }, refusal(409, "This version cannot carry out wallet threshold")],
    [{ action: "wallet melt" }, refusal(403, "Your role may not do what is proposed")],
  ])("that this version cannot read is listed, and changes nothing: %o", async (changes, refused) => {
    const { id, balance } = await aProposal();
    await changeItem(ledger.ledgerAt(), `proposal#${id}`, changes);
    expect(await listed(bola, id)).toMatchObject({ proposal: id });
    expect(await send(bola, "proposals approve", { proposal: id })).toMatchObject(refused);
    expect(await balance()).toBe(1_000);
    await send(ada, "proposals reject", { proposal: id, why: "unreadable" });
  });

  test("that does not exist is not found", async () => {
    expect(await send(bola, "proposals approve", { proposal: `prop_${"0".repeat(18)}` })).toMatchObject({
      status: 404,
    });
  });

  test("that two equal requests make at once is one, and the same one while it is open; another person's is another", async () => {
    const { accountId: account } = await ledger.anAccount();
    const input = { account, amount_kobo: 500_00, id: randomUUID(), why: "transfer" };
    const answers = await Promise.all([1, 2, 3].map(() => send(ada, "wallet fund", input)));
    const ids = answers.map((answer) => proposalIn(answer).proposal);
    expect(new Set(ids).size).toBe(1);
    expect(proposalIn(await send(ada, "wallet fund", input)).proposal).toBe(ids[0]);
    expect(ids).not.toContain(proposalIn(await send(bola, "wallet fund", input)).proposal);
    await send(ada, "proposals reject", { proposal: ids[0], why: "a mistake" });
    expect(ids).not.toContain(proposalIn(await send(ada, "wallet fund", input)).proposal);
  });

  test("of a transfer that was credited before changes nothing, and says so", async () => {
    const { id, input, balance } = await aProposal();
    const twin = proposalIn(await send(bola, "wallet fund", input)).proposal;
    await send(bola, "proposals approve", { proposal: id });
    expect(await listed(ada, twin)).toMatchObject({
      ...{ balance_before: null, balance_after: null },
      refusal: expect.stringMatching(`^It would be refused now: ${input.id} was recorded already, with NGN 500.00 at `),
    });
    expect(await send(ada, "proposals approve", { proposal: twin })).toMatchObject(refusal(409, "It was done before"));
    expect(await balance()).toBe(1_500);
  });

  test("of what is booked already is refused at once, so that nobody is asked to approve it", async () => {
    const { id, input, accountId: account } = await aProposal();
    await send(bola, "proposals approve", { proposal: id });
    const { accountId: other } = await ledger.anAccount();
    const order = await ledger.anOrder();
    await settleTransaction(ledger.ledgerAt(), order.transaction, { status: "success" }, deadlineIn(9_000));
    const reference = referenceOf(order.transaction);
    const bookings = [
      ["wallet adjust", { account, amount_kobo: 1_00, id: "gift" }, "gift was recorded already, with NGN 1.00"],
      ["wallet reverse", { account, id: input.id }, `reversal of ${input.id} was recorded already, with -NGN 500.00`],
      ["float fund", { amount_kobo: 1_00, id: input.id }, `${input.id} was booked already, with NGN 1.00`],
      ["transactions refund", { reference }, `refund of ${reference} was recorded already, with NGN 500.00`],
    ] as const;
    expect(await send(fay, "wallet fund", input)).toMatchObject(refusal(409, `${input.id} was recorded already`));
    expect(await send(fay, "wallet fund", { ...input, account: other })).toMatchObject(
      refusal(409, `${input.id} was credited to account ${account} already`),
    );
    for (const [action, booking, sentence] of bookings) {
      const { proposal } = proposalIn(await send(ada, action, { ...booking, why: "one" }));
      expect(await send(bola, "proposals approve", { proposal })).toMatchObject({ status: 200 });
      expect(await send(ada, action, { ...booking, why: "another" })).toMatchObject(refusal(409, sentence));
    }
  });

  test("of a booking in an account that was closed since then is refused, and stays open", async () => {
    const { accountId: account, balance } = await ledger.anAccount();
    const bookings = [
      ["wallet fund", { account, amount_kobo: 100_00, id: `late-${account}`, why: "transfer" }],
      ["wallet adjust", { account, amount_kobo: 100_00, id: "late", why: "gift" }],
    ] as const;
    const proposals = await Promise.all(
      bookings.map(async ([action, input]) => proposalIn(await send(bola, action, input)).proposal),
    );
    await send(bola, "accounts restrict", { account, why: "ended" });
    const payout = { account, amount_kobo: -1_000_00, id: "payout", why: "ended" };
    await send(ada, "proposals approve", { proposal: proposalIn(await send(bola, "wallet adjust", payout)).proposal });
    const close = { nowMs: NOON_MS + 180_000 };
    expect(await send(ada, "accounts close", { account, why: "ended" }, close)).toMatchObject({ status: 200 });
    for (const proposal of proposals) {
      expect(await send(ada, "proposals approve", { proposal })).toMatchObject(refusal(409, "is closed"));
      expect(await readProposal(ledger.ledgerAt(), proposal)).toMatchObject({ state: "open" });
    }
    expect(await balance()).toBe(0);
  });

  test("of what a closed account may do, pays or is credited is refused at once, and one from before it was closed says so", async () => {
    const { account_id: account } = await createAccount(ledger.storeAt(NOON_MS - 600_000), {
      name: "test",
      whitelist: [],
    });
    const chi = { sub: "chi", groups: ["operators"] };
    const changes = [
      ["accounts limits", { account, limits: {}, why: "more" }],
      ["accounts entitle", { account, entitlements: { vtu: null, "identity:retrieve": null }, why: "more" }],
      ["prices set", { account, kind: "data", percent: -50, below_cost: true, why: "deal" }],
      ["wallet fund", { account, amount_kobo: 100_00, id: randomUUID(), why: "transfer" }],
    ] as const;
    await send(ada, "accounts limits", { account, limits: { day_naira: 1_000 }, why: "less" });
    const proposals = await Promise.all(
      changes.map(async ([action, input]) => proposalIn(await send(chi, action, input)).proposal),
    );
    await send(bola, "accounts restrict", { account, why: "ended" });
    const later = { nowMs: NOON_MS + 180_000 };
    expect(await send(bola, "accounts close", { account, why: "ended" }, later)).toMatchObject({ status: 200 });
    for (const [index, [action, input]] of changes.entries()) {
      expect(await listed(bola, proposals[index] ?? "")).toMatchObject({
        refusal: expect.stringMatching(/^It would be refused now: .* is closed/),
      });
      expect(await send(chi, action, { ...input, why: "again" })).toMatchObject(refusal(409, "is closed"));
    }
  });

  test("of a refund to a closed account is refused at once, and not of an order that keeps its amount or was a test", async () => {
    const [order, testOrder] = [
      await ledger.anOrder({ amount_kobo: koboFromNaira(900) }),
      await ledger.anOrder({ mode: "test" }),
    ];
    for (const { accountId } of [order, testOrder]) {
      await changeItem(ledger.ledgerAt(), walletPk(accountId), { closed: true });
    }
    const resolve = ({ transaction }: typeof order, status: string) =>
      send(ada, "transactions resolve", { reference: referenceOf(transaction), status, why: "ticket" });
    expect(await resolve(order, "failed")).toMatchObject(refusal(409, "is closed"));
    const { proposal } = proposalIn(await resolve(order, "success"));
    await send(ada, "proposals reject", { proposal, why: "tried" });
    expect(await resolve(testOrder, "failed")).toMatchObject({ status: 200, data: { refunded: 0 } });
  });

  test("that would be refused is refused at once, and one that became so stays open", async () => {
    const { accountId: account, balance } = await ledger.anAccount();
    const less = (amount: number, id: string) => ({ account, amount_kobo: -amount * 100, id, why: "ticket" });
    const [open, ended] = [await ledger.anOrder(), await ledger.anOrder({ amount_kobo: koboFromNaira(900) })];
    await settleTransaction(ledger.ledgerAt(), ended.transaction, { status: "success" }, deadlineIn(9_000));
    const final = { reference: referenceOf(ended.transaction), status: "failed" };
    for (const [action, input, refused] of [
      ["wallet adjust", less(1_001, "a"), refusal(409, "must not become negative")],
      ["wallet reverse", { account, id: `first-${open.accountId}` }, refusal(404, "There is no funding")],
      ["wallet reverse", { account, id: "none" }, refusal(404, "There is no funding")],
      ["transactions refund", { reference: referenceOf(open.transaction) }, refusal(409, "is open")],
      ["transactions resolve", final, refusal(409, "that is final")],
    ] as const) {
      expect(await send(ada, action, { ...input, why: "ticket" })).toMatchObject(refused);
    }
    const first = proposalIn(await send(ada, "wallet adjust", less(700, "b"))).proposal;
    const second = proposalIn(await send(ada, "wallet adjust", less(700, "c"))).proposal;
    await send(bola, "proposals approve", { proposal: first });
    expect(await send(bola, "proposals approve", { proposal: second })).toMatchObject({ status: 409 });
    expect(await balance()).toBe(300);
    expect(await readProposal(ledger.ledgerAt(), second)).toMatchObject({ state: "open" });
  });

  test("is carried out alone with a reason where the glass is broken, by operators only, and pages", async () => {
    const [usual, { id, balance }] = [await aProposal(), await aProposal()];
    const log = captureLog();
    const why = "sales are stopped";
    await send(bola, "proposals approve", { proposal: usual.id });
    expect(await send(fay, "proposals break-glass", { proposal: id, why })).toMatchObject({ status: 403 });
    expect(log.lines("proposal.broke_glass")).toEqual([]);
    expect(await send(ada, "proposals break-glass", { proposal: id, why })).toMatchObject({
      status: 200,
      data: { state: "approved", broke_glass: true, decided_why: why },
    });
    expect(await send(ada, "proposals break-glass", { proposal: id, why })).toMatchObject({ data: { repeated: true } });
    expect(await balance()).toBe(1_500);
    expect(log.lines("proposal.broke_glass")).toMatchObject([{ level: "error", proposal: id, action: "wallet fund" }]);
  });
});

describe("needs another person", () => {
  test("a resolution above the amount, and not one up to it", async () => {
    const small = await ledger.anOrder({ pk: await aTransactionPk() });
    const why = "ticket 88";
    const resolve = (reference: string) => ({ reference, status: "failed", why });
    const alone = await send(ada, "transactions resolve", resolve(referenceOf(small.transaction)));
    expect(alone).toMatchObject({ status: 200 });
    const repeated = await send(ada, "transactions resolve", resolve(referenceOf(small.transaction)));
    expect(repeated, "a repetition after a lost answer").toEqual(alone);
    const rules = { ...fourEyes, resolveAboveNaira: 499 };
    const large = await ledger.anOrder({ pk: await aTransactionPk() });
    const answer = await send(ada, "transactions resolve", resolve(referenceOf(large.transaction)), { rules });
    expect(answer.status).toBe(202);
    expect(await large.stored()).toMatchObject({ status: "processing" });
    await send(bola, "proposals approve", { proposal: proposalIn(answer).proposal }, { rules });
    expect(await large.stored()).toMatchObject({ status: "failed" });
    expect(await large.balance()).toBe(1_000);
    // A restored ledger has it open again, and the audit log has who resolved it.
    await changeItem(ledger.ledgerAt(), large.transaction.pk, { ...large.transaction, resolved_by: undefined });
    const again = await send(bola, "transactions resolve", resolve(referenceOf(large.transaction)), { rules });
    expect(again.status).toBe(202);
  });

  test("and an order that waited then, or had another sending, is not resolved by an approval", async () => {
    const order = await ledger.anOrder({ pk: await aTransactionPk(), amount_kobo: koboFromNaira(900) });
    const { pk } = order.transaction;
    const toSend = { kind: "data", network_id: 1, plan_id: 101 } as const;
    const at = (minutes: number) => NOON_MS + minutes * 60_000;
    const sendAt = async (nowMs: number) =>
      claimedAsSender(ledger.ledgerAt(nowMs), await storedQueued(ledger.ledgerAt(), pk));
    const resolve = { reference: referenceOf(order.transaction), status: "failed", why: "ticket 88" };
    const proposed = async (nowMs: number) =>
      proposalIn(await send(ada, "transactions resolve", resolve, { nowMs })).proposal;
    const approve = (proposal: string, nowMs: number) => send(bola, "proposals approve", { proposal }, { nowMs });

    await enqueueOrder(ledger.ledgerAt(), order.transaction, toSend, deadlineIn(9_000));
    const whileItWaited = await proposed(at(0));
    const sent = await sendAt(at(1));
    const changed = expect.stringContaining("has begun to wait or was sent since");
    expect(await approve(whileItWaited, at(3))).toMatchObject({ status: 409, message: changed });
    const ofTheFirstSending = await proposed(at(3));
    await enqueueOrder(ledger.ledgerAt(at(4)), { ...sent, claimed: { number: 1 } }, toSend, deadlineIn(9_000));
    await sendAt(at(5));
    expect(await approve(ofTheFirstSending, at(7))).toMatchObject({ status: 409, message: changed });
    expect([await order.balance(), await order.stored()]).toMatchObject([100, { status: "processing" }]);
    expect(await approve(await proposed(at(7)), at(7))).toMatchObject({ status: 200 });
    expect([await order.balance(), await order.stored()]).toMatchObject([1_000, { status: "failed" }]);
  });

  test("a raised or removed limit, and not a lowered one", async () => {
    const { accountId: account } = await ledger.anAccount();
    await setAccountLimits(ledger.storeAt(), account, { day_naira: 1_000 });
    const limit = (limits: object) => send(ada, "accounts limits", { account, limits, why: "ticket" });
    expect(await limit({ day_naira: 900, order_naira: 100 })).toMatchObject({ status: 200 });
    expect(await limit({ order_naira: 100 })).toMatchObject({ status: 202 });
    const raised = await limit({ day_naira: 5_000, order_naira: 100, month_orders: 50 });
    const { proposal, ...shown } = proposalIn(raised);
    expect(shown).toMatchObject({
      ...{ amount: null, balance_before: null, balance_after: null },
      consequence: `Changes the limits of ${account} (test): day_naira from 900 to 5,000, month_orders from no limit to 50`,
    });
    expect(await send(bola, "proposals approve", { proposal })).toMatchObject({ data: { state: "approved" } });
    const { data } = await send(bola, "accounts show", { account });
    expect(data.order_limits).toEqual({ day_naira: 5_000, order_naira: 100, month_orders: 50 });
  });

  test("and a limit that was lowered since then is not raised by an approval, nor by a lowering that was under way", async () => {
    const { accountId: account } = await ledger.anAccount();
    await setAccountLimits(ledger.storeAt(), account, { day_naira: 1_000 });
    const limit = (day_naira: number) =>
      send(ada, "accounts limits", { account, limits: { day_naira }, why: "ticket" });
    const lower = () => send(bola, "accounts limits", { account, limits: { day_naira: 10 }, why: "fraud" });
    const limits = async () => (await send(bola, "accounts show", { account })).data.order_limits;
    const { proposal } = proposalIn(await limit(2_000));
    expect(await lower()).toMatchObject({ status: 200 });
    const changed = expect.stringContaining("Another person has changed the limits");
    expect(await listed(bola, proposal)).toMatchObject({ refusal: changed });
    expect(await send(bola, "proposals approve", { proposal })).toMatchObject({ status: 409, message: changed });
    expect(await limits()).toEqual({ day_naira: 10 });

    const { db } = ledger.tables;
    // The second read of the account is the action's, after the preview.
    const beforeTheAction = () => afterNext(db, "get", async () => beforeNext(db, "get", lower));
    for (const race of [() => beforeNext(db, "transactWrite", lower), beforeTheAction]) {
      await setAccountLimits(ledger.storeAt(), account, { day_naira: 1_000 });
      race();
      expect(await limit(900)).toMatchObject({ status: 409, message: changed });
      expect(await limits()).toEqual({ day_naira: 10 });
    }
  });

  test("and a limit that was set as proposed already is not set again, by an approval or by a request whose answer was lost", async () => {
    const { accountId: account } = await ledger.anAccount();
    const fields = { account, limits: { day_naira: 1_000 }, before: {}, why: "ticket" };
    expect(await send(ada, "accounts limits", fields)).toMatchObject({ status: 200 });
    const raise = { ...fields, limits: { day_naira: 2_000 }, before: fields.limits };
    const { proposal } = proposalIn(await send(ada, "accounts limits", raise));
    await setAccountLimits(ledger.storeAt(), account, raise.limits);
    const { version } = await requireAccount(ledger.storeAt(), account);
    const refusal = expect.stringContaining("it was done before");
    expect(await listed(bola, proposal)).toMatchObject({ refusal });
    const message = expect.stringContaining("It was done before");
    expect(await send(bola, "proposals approve", { proposal })).toMatchObject({ status: 409, message });
    expect(await send(ada, "accounts limits", raise)).toMatchObject({
      status: 200,
      data: { order_limits: raise.limits },
    });
    expect(await requireAccount(ledger.storeAt(), account)).toMatchObject({ version });
  });

  test("a raised daily quota or another kind of orders, and not a lowered quota, nor one that was lowered since then", async () => {
    const { accountId: account } = await ledger.anAccount();
    await setEntitlements(ledger.storeAt(), account, { vtu: null, identity: 1_000 });
    const entitle = (by: typeof ada, entitlements: object) =>
      send(by, "accounts entitle", { account, entitlements, why: "ticket" });
    expect(await entitle(ada, { vtu: 50, identity: 1_000 })).toMatchObject({ status: 200 });
    for (const raised of [{ identity: 1_001 }, { identity: null }, { vtu: null }, { vtu: 1, "identity:retrieve": 1 }]) {
      const answer = await entitle(ada, raised);
      expect(answer.status, JSON.stringify(raised)).toBe(202);
      await send(ada, "proposals reject", { proposal: proposalIn(answer).proposal, why: "tried" });
    }
    const { proposal, consequence } = proposalIn(await entitle(ada, { vtu: 50, identity: 2_000 }));
    expect(consequence).toBe(`Changes what ${account} (test) may order: identity from 1,000 a day to 2,000 a day`);
    expect(await send(ada, "proposals approve", { proposal })).toMatchObject({ status: 403 });
    expect(await send(bola, "proposals approve", { proposal })).toMatchObject({ data: { state: "approved" } });
    const other = proposalIn(await entitle(ada, { vtu: null, "identity:retrieve": 5 }));
    expect(other.consequence).toBe(
      `Changes what ${account} (test) may order: vtu from 50 a day to any number, identity from 2,000 a day to nothing, identity:retrieve from nothing to 5 a day`,
    );
    const later = other.proposal;
    expect(await entitle(bola, { identity: 20 })).toMatchObject({ status: 200 });
    const changed = expect.stringContaining("Another person has changed what the account may do");
    expect(await send(bola, "proposals approve", { proposal: later })).toMatchObject({ status: 409, message: changed });
    const { data } = await send(bola, "accounts show", { account });
    expect(data.entitlements).toEqual({ identity: 20 });
  });

  test("a price below cost, which says what an order costs, and not another price", async () => {
    const { accountId: account } = await ledger.anAccount();
    const price = (fields: object) => send(ada, "prices set", { account, kind: "airtime", why: "contract", ...fields });
    expect(await price({ percent: 2 })).toMatchObject({ status: 200 });
    const sentences = {
      "airtime -NGN 49,999.99: a top-up of NGN 50,000.00 costs NGN 0.01": {
        amount_kobo: -4_999_999,
      },
      "airtime mtn -20 percent: a top-up of NGN 1,000.00 costs NGN 800.00": {
        percent: -20,
        network: "mtn",
      },
    };
    for (const [sentence, fields] of Object.entries(sentences)) {
      const answer = await price({ ...fields, below_cost: true });
      expect(answer, answer.message).toMatchObject({ status: 202 });
      expect(proposalIn(answer).consequence).toBe(
        `Sets a price below cost for ${account} (test), ${sentence}; the upstream's discount is 0 percent, or unknown`,
      );
    }
    const rules = async () => z.array(z.unknown()).parse((await send(bola, "prices list", { account })).data.rules);
    expect(await rules()).toHaveLength(1);
    const { proposal } = proposalIn(await price({ percent: -20, below_cost: true }));
    expect(await send(bola, "proposals approve", { proposal })).toMatchObject({ data: { state: "approved" } });
    expect((await rules()).at(-1)).toMatchObject({ percent: -20, below_cost: true });
    expect(await price({ percent: -20 })).toMatchObject({ status: 409 });
  });

  test("the removal of a price rule behind which a price below cost applies, and not of one below cost", async () => {
    const { accountId: account } = await ledger.anAccount();
    const why = "contract";
    const rule = async (by: typeof ada, fields: object) => {
      const answer = await send(by, "prices set", { account, kind: "airtime", why, ...fields });
      expect(answer.status, answer.message).toBe("below_cost" in fields ? 202 : 200);
      if (answer.status === 202) await send(bola, "proposals approve", { proposal: proposalIn(answer).proposal });
      const { data } = await send(by, "prices list", { account });
      return (
        z
          .array(z.looseObject({ rule_id: z.string() }))
          .parse(data.rules)
          .at(-1)?.rule_id ?? ""
      );
    };
    const remove = (rule_id: string) => send(ada, "prices remove", { account, rule_id, why });
    const below = await rule(ada, { percent: -20, below_cost: true });
    const days = (count: number) => ({ from: new Date(NOON_MS + count * 86_400_000).toISOString() });
    const later = await rule(ada, { percent: 0, ...days(1) });
    const narrower = await rule(ada, { percent: 1, network: "mtn" });
    const ofData = await rule(ada, { percent: 2, kind: "data" });
    const end = proposalIn(await remove(later));
    expect(end.consequence).toBe(
      `Removes the price rule ${later} (airtime 0 percent) of ${account} (test), behind which a price below cost applies: airtime -20 percent`,
    );
    const ofMtn = proposalIn(await remove(narrower));
    expect(ofMtn.consequence).toContain(`${narrower} (airtime mtn 1 percent)`);
    expect(await remove(ofData)).toMatchObject({ status: 200 });
    expect(await send(bola, "prices list", { account })).toMatchObject({
      data: { rules: [{ rule_id: below }, { rule_id: later }, { rule_id: narrower }] },
    });
    expect(await send(bola, "proposals approve", { proposal: end.proposal })).toMatchObject({ status: 200 });
    expect(await remove(below)).toMatchObject({ status: 200 });
    expect(await remove(narrower)).toMatchObject({ status: 200 });
    await send(ada, "proposals reject", { proposal: ofMtn.proposal, why: "done" });

    // One of the same orders that begins later is not behind the one in force, but after it.
    const inForce = await rule(ada, { percent: 1, network: "glo" });
    await rule(ada, { percent: -20, below_cost: true, network: "glo", ...days(1) });
    expect(await remove(inForce)).toMatchObject({ status: 200 });
    // A plan's rule is behind no other; a network's is behind each plan's, because rules do not say of which network a plan is.
    const data = { kind: "data" };
    await rule(ada, { ...data, plan_id: 101, percent: -20, below_cost: true });
    expect(await remove(await rule(ada, { ...data, percent: 1 }))).toMatchObject({ status: 200 });
    await rule(ada, { ...data, network: "mtn", percent: -20, below_cost: true });
    const ofAPlan = proposalIn(await remove(await rule(ada, { ...data, plan_id: 201, percent: 1 })));
    expect(ofAPlan.consequence).toContain("behind which a price below cost applies: data mtn -20 percent");
    await send(ada, "proposals reject", { proposal: ofAPlan.proposal, why: "done" });
  });

  test("and a removal by one person is refused if a price below cost was set behind the rule while it was under way", async () => {
    const { accountId: account } = await ledger.anAccount();
    const price = (by: typeof ada, fields: object) =>
      send(by, "prices set", { account, kind: "airtime", why: "contract", ...fields });
    await price(ada, { percent: 1, network: "mtn" });
    const listed = z.object({ rules: z.array(z.looseObject({ rule_id: z.string() })) });
    const [rule] = listed.parse((await send(ada, "prices list", { account })).data).rules;
    const { proposal } = proposalIn(await price(ada, { percent: -20, below_cost: true }));
    beforeNext(ledger.tables.db, "transactWrite", () => send(bola, "proposals approve", { proposal }));
    const removal = { account, rule_id: rule?.rule_id, why: "contract" };
    const answer = await send(ada, "prices remove", removal);
    expect(answer).toMatchObject(refusal(409, "Another person has changed the prices"));
    const proposed = await send(ada, "prices remove", removal);
    expect(proposed).toMatchObject({ status: 202 });
    await send(ada, "proposals reject", { proposal: proposalIn(proposed).proposal, why: "tried" });
  });

  test("a match with an event, whose sentence names the event and the differences that the proposer accepted", async () => {
    const order = await ledger.anOrder({ pk: await aTransactionPk(), amount_kobo: koboFromNaira(900) });
    const upstreamReference = `U-${randomUUID()}`;
    const reported = { reference: upstreamReference, status: "failed", type: "airtime" } as const;
    const phone = { key: "h", masked: "0909****111" };
    const event = { ...reported, phone, amount_kobo: koboFromNaira(100) };
    await recordEvent(ledger.ledgerAt(), event, "no_candidate");
    const stored = await storedEventUnder(ledger.ledgerAt(), upstreamReference);
    const id = storedEventId(stored);
    const match = { event: id, reference: referenceOf(order.transaction), why: "ticket" };
    expect(await send(ada, "events match", match)).toMatchObject(refusal(409, "The event differs"));
    const answer = await send(ada, "events match", { ...match, accepts_differences: true });
    const { proposal, consequence } = proposalIn(answer);
    expect(consequence).toBe(
      `Settles ${match.reference} of ${order.accountId} (test) as failed for good and refunds NGN 900.00, as ${id} reports, although they differ in type (airtime reported, data expected) and amount (NGN 100.00 reported, NGN 900.00 expected) and phone number`,
    );
    await discardEvent(ledger.ledgerAt(), stored, { by: "fay", why: "a copy" });
    expect(await listed(bola, proposal)).toMatchObject({
      refusal: `It would be refused now: ${id} is discarded already`,
    });
  });

  test("a match above the amount, and one up to it does not, nor its repetition after a lost answer", async () => {
    const order = await ledger.anOrder({ pk: await aTransactionPk() });
    const event = { reference: `U-${randomUUID()}`, status: "failed" } as const;
    await recordEvent(ledger.ledgerAt(), event, "no_candidate");
    const id = storedEventId(await storedEventUnder(ledger.ledgerAt(), event.reference));
    const match = { event: id, reference: referenceOf(order.transaction), why: "ticket" };
    const rules = { ...fourEyes, resolveAboveNaira: 499 };
    const { proposal, consequence } = proposalIn(await send(ada, "events match", match, { rules }));
    expect(consequence).toMatch(new RegExp(`, as ${id} reports$`));
    const matched = await send(ada, "events match", match);
    expect(matched).toMatchObject({ status: 200, data: { refunded: 500 } });
    expect(await send(ada, "events match", match)).toEqual(matched);
    await send(ada, "proposals reject", { proposal, why: "done" });
  });

  test("a reversal and a payment to the upstream; and without the setting nothing does", async () => {
    const { accountId: account, balance } = await ledger.anAccount();
    const funding = { account, amount_kobo: 100_00, id: randomUUID(), why: "transfer" };
    const off = { rules: "off" } as const;
    expect(await send(ada, "wallet fund", funding, off)).toMatchObject({ status: 200, data: { balance: 1_100 } });
    const reversal = await send(fay, "wallet reverse", { account, id: funding.id, why: "another account's" });
    const payment = await send(fay, "float fund", { amount_kobo: 100_00, id: randomUUID(), why: "weekly" });
    for (const answer of [reversal, payment]) {
      expect(answer.status).toBe(202);
      const approved = await send(bola, "proposals approve", { proposal: proposalIn(answer).proposal });
      expect(approved, approved.message).toMatchObject({ status: 200 });
    }
    expect(await balance()).toBe(1_000);
  });
});

test("the count of what waits is of proposals that the person who asks may approve", async () => {
  const countFor = (sub: string, role: Role) => {
    const actor = { by: sub, person: { issuer: ISSUER, sub } };
    return countApprovable(anActionContext(ledger.tables, { fourEyes, ...anOwnersRequest({ actor, roles: [role] }) }));
  };
  const counts = () =>
    Promise.all([countFor("ada", "operator"), countFor("bola", "operator"), countFor("rea", "reader")]);
  expect(await countApprovable(anActionContext(ledger.tables, { fourEyes })), "by a command").toBe(0);
  const [byAda, byBola] = await counts();
  await aProposal();
  expect(await counts()).toEqual([byAda, byBola + 1, 0]);
});
