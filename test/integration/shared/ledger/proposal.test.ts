import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { HOUR_MS } from "../../../../shared/contract/values/durations.ts";
import { auditEntry, auditPut, readAudit } from "../../../../shared/ledger/audit.ts";
import type { AuditedLedger } from "../../../../shared/ledger/ledger.ts";
import {
  approvingClient,
  latestProposals,
  openProposals,
  type Proposal,
  ProposalDecidedError,
  putProposal,
  readProposal,
  rejectProposal,
} from "../../../../shared/ledger/proposal.ts";
import { transactOnce } from "../../../../shared/ledger/transact.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { beforeNext } from "../../../builders/dynamodb/another-process.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

/** Goal: an action that a proposal waits for is done once, in the write that approves it, or not at all. */
let ledger: AuditedLedger;
let nowMs = NOON_MS;
beforeAll(async () => {
  const { db, ledgerTable: table, auditTable } = await freshTables();
  ledger = { db, table, auditTable, clock: () => nowMs };
});
const audit = () => auditPut(ledger, auditEntry({ audit_log: "acc_1", by: "ada", action: "wallet fund" }, NOON_MS));
const propose = (changes: object = {}, hours = 24): Promise<Proposal> =>
  putProposal(
    ledger,
    {
      ...{ action: "wallet fund", input: randomUUID(), consequence: "Money is added" },
      ...{ proposed_by: "ada", proposer: "ada-sub", ...changes },
    },
    hours,
    audit,
  );
/** The action's writes, under the approval. */
const approve = async (proposal: Proposal, pk: string, ConditionExpression = "attribute_not_exists(pk)") => {
  const put = { Put: { TableName: ledger.table, Item: { pk }, ConditionExpression } };
  const approved = { by: "eve", why: "seen", brokeGlass: true };
  return transactOnce(approvingClient(ledger, proposal, approved), [put, audit()], randomUUID());
};
const isStored = async (pk: string) =>
  (await ledger.db.get({ TableName: ledger.table, Key: { pk } })).Item !== undefined;

test("the write of an action approves its proposal, and a second one is refused as decided, whatever else it writes", async () => {
  const proposal = await propose();
  expect(await readProposal(ledger, proposal.proposal_id)).toEqual(proposal);
  const entries = (await readAudit(ledger, "acc_1")).length;
  expect(await approve(proposal, "first")).toEqual({ kind: "written" });
  await expect(approve(proposal, "second")).rejects.toThrow(ProposalDecidedError);
  expect([await isStored("first"), await isStored("second")]).toEqual([true, false]);
  const { open: _open, listed_at: _listedAt, ...decided } = proposal;
  expect(await readProposal(ledger, proposal.proposal_id)).toEqual({
    ...{ ...decided, state: "approved", decided_by: "eve", decided_at: isoTime(NOON_MS) },
    ...{ decided_why: "seen", broke_glass: true },
  });
  expect(await readAudit(ledger, "acc_1")).toHaveLength(entries + 1);
  expect(await openProposals(ledger)).toEqual([]);
});

test("an action that is refused leaves its proposal open, and calls without an audit entry approve nothing", async () => {
  const proposal = await propose();
  expect(await approve(proposal, "absent", "attribute_exists(pk)")).toMatchObject({ kind: "condition_failed" });
  const client = approvingClient(ledger, proposal, { by: "eve" });
  const [TableName, Key] = [ledger.table, { pk: "third" }];
  await client.transactWrite({ TransactItems: [{ Put: { TableName, Item: Key } }] });
  const [UpdateExpression, ExpressionAttributeValues] = ["SET written = :time", { ":time": 2 }];
  await client.update({ TableName, Key, UpdateExpression, ExpressionAttributeValues });
  expect((await client.get({ TableName, Key })).Item).toEqual({ ...Key, written: 2 });
  const third = { KeyConditionExpression: "pk = :pk", ExpressionAttributeValues: { ":pk": "third" } };
  expect((await client.query({ TableName, ...third })).Items).toEqual([{ ...Key, written: 2 }]);
  await client.put({ TableName, Item: Key });
  const { Responses } = await client.batchGet({ RequestItems: { [TableName]: { Keys: [Key] } } });
  expect(Responses).toEqual({ [TableName]: [Key] });
  expect(await openProposals(ledger)).toEqual([proposal]);
  beforeNext(ledger.db, "batchGet", async () =>
    expect(await rejectProposal(ledger, proposal, { by: "eve" }, audit())).toBe(true),
  );
  // It was decided since the index was read.
  expect(await openProposals(ledger)).toEqual([]);
  expect(await rejectProposal(ledger, proposal, { by: "eve" }, audit())).toBe(false);
  const { open: _open, listed_at: _listedAt, ...rejected } = proposal;
  expect(await readProposal(ledger, proposal.proposal_id)).toEqual({
    ...{ ...rejected, state: "rejected", decided_by: "eve", decided_at: isoTime(NOON_MS) },
  });
});

test("a proposal that is open is proposed once, and one that has expired is not approved, and is proposed again", async () => {
  const input = randomUUID();
  const proposal = await propose({ input });
  expect(await propose({ input })).toEqual(proposal);
  expect(proposal.expires_at).toBe(isoTime(NOON_MS + 24 * HOUR_MS));
  nowMs += 24 * HOUR_MS - 1;
  expect(await openProposals(ledger)).toEqual([proposal]);
  nowMs += 1;
  expect(await openProposals(ledger)).toEqual([]);
  await expect(approve(proposal, "fourth")).rejects.toThrow(ProposalDecidedError);
  const again = await propose({ input });
  expect(again.proposal_id).not.toBe(proposal.proposal_id);
  expect(await rejectProposal(ledger, proposal, { by: "eve", why: "too late" }, audit())).toBe(true);
  expect(await readProposal(ledger, proposal.proposal_id)).toMatchObject({
    state: "rejected",
    decided_why: "too late",
  });
  expect(await openProposals(ledger)).toEqual([again]);
  nowMs += 1;
  const latest = await propose();
  expect(await openProposals(ledger)).toEqual([latest, again]);
  nowMs -= 2;
  const earliest = await propose({}, 48);
  expect(await openProposals(ledger)).toEqual([latest, again, earliest]);
  expect((await latestProposals(ledger)).slice(0, 3)).toEqual([latest, again, earliest]);
  const later = await propose({}, 49);
  expect(await openProposals(ledger)).toEqual([latest, again, earliest, later]);
});

test("of two equal proposals at once one is stored, with one audit entry, and both resolve with it", async () => {
  const entries = (await readAudit(ledger, "acc_1")).length;
  const input = randomUUID();
  let faster: Proposal | undefined;
  beforeNext(ledger.db, "transactWrite", async () => {
    faster = await propose({ input });
  });
  expect(await propose({ input })).toEqual(faster);
  expect(await readAudit(ledger, "acc_1")).toHaveLength(entries + 1);
});

test("a person has 20 open proposals at most, and another person none of them", async () => {
  for (let count = (await openProposals(ledger)).length; count < 20; count += 1) await propose();
  await expect(propose()).rejects.toThrow("20 of your proposals are open");
  expect((await propose({ proposer: "eve-sub" })).proposer).toBe("eve-sub");
  expect(await openProposals(ledger)).toHaveLength(21);
});
