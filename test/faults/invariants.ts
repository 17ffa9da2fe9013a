import { GetCommand, paginateScan } from "@aws-sdk/lib-dynamodb";
import * as z from "zod";
import { openTransactions } from "../../shared/ledger/open-transactions.ts";
import { ownedKeys } from "../../shared/ledger/owner-index.ts";
import { readTransactions } from "../../shared/ledger/find-transactions.ts";
import { reconcileWallet } from "../../shared/reconciliation/reconcile-wallet.ts";
import { isIdentityCheck, referenceOf, type Transaction } from "../../shared/ledger/transaction.ts";
import type { Ask, Stage } from "./stage.ts";
import type { World } from "./world/world.ts";

const EVER = { from: "0000", to: "9999" };

/** What must hold at rest, whatever happened before. Returns a sentence for each thing that does not. */
export const violations = async (stage: Stage): Promise<readonly string[]> => {
  const rows = await transactionsOf(stage);
  return [
    ...(await wrongMoney(stage, rows)),
    ...rows.flatMap((row) => wrongOrder(stage, row)),
    ...rows.flatMap((row) => wrongHistory(stage, row)),
    ...rows.flatMap((row) => wrongAnnouncements(stage, row)),
    ...stage.asks.flatMap((ask) => wrongAnswers(ask, rows)),
    ...(await invisible(stage, rows)),
    ...stage.world.logged.filter(isPersonal).map((line) => `Was logged: ${line}`),
    ...(await stage.world.pump.deadLetters()).map((body) => `There is a dead letter: ${body}`),
  ];
};

const read = async ({ world }: Stage, pk: string): Promise<unknown> => {
  const { db, table } = world.ledger;
  return (await db.send(new GetCommand({ TableName: table, Key: { pk }, ConsistentRead: true }))).Item;
};

const readAll = async (stage: Stage, owner: string): Promise<unknown[]> => {
  const keys = await ownedKeys(stage.world.ledger, owner, EVER);
  return Promise.all(keys.map(({ pk }) => read(stage, pk)));
};

export const transactionsOf = async (stage: Stage): Promise<readonly Transaction[]> => {
  const { ledger } = stage.world;
  const owners = [`${stage.accountId}#live`, `${stage.accountId}#test`];
  const keys = await Promise.all(owners.map((owner) => ownedKeys(ledger, owner, EVER)));
  return readTransactions(ledger, keys.flat());
};

const amounts = z.array(z.object({ amount_kobo: z.int() }));
const balance = z.object({ balance_kobo: z.int() });

/** Fundings and adjustments, less what is not failed, is the balance; and the ledger's own proof says so too. */
const wrongMoney = async (stage: Stage, rows: readonly Transaction[]): Promise<string[]> => {
  const { balance_kobo } = balance.parse(await read(stage, `wallet#${stage.accountId}`));
  const entries = amounts.parse(await readAll(stage, `${stage.accountId}#entries`));
  const taken = rows.filter(({ mode, status }) => mode === "live" && status !== "failed");
  const expected = sum(entries) - sum(taken);
  const proof = await reconcileWallet(stage.world.ledger, stage.accountId);
  return [
    ...(balance_kobo === expected ? [] : [`The balance is ${balance_kobo} and should be ${expected}`]),
    ...(balance_kobo < 0 ? [`The balance is negative: ${balance_kobo}`] : []),
    ...(proof?.difference_kobo === 0 ? [] : [`The proof says ${JSON.stringify(proof)}`]),
  ];
};

const sum = (items: readonly { readonly amount_kobo: number }[]): number =>
  items.reduce((total, { amount_kobo }) => total + amount_kobo, 0);

/** One order at most, and no end that the upstream's books contradict. A check without an answer is refunded, whatever was found. */
const wrongOrder = ({ world }: Stage, row: Transaction): string[] => {
  const reference = referenceOf(row);
  const seen = world.upstream.requests.filter((request) => request.reference === reference);
  const order = world.upstream.purchases.find((purchase) => purchase.reference === reference);
  if (row.mode === "test") return seen.length > 0 ? [`${reference} of the sandbox went upstream`] : [];
  return [
    ...(seen.length > 1 ? [`${reference} went upstream ${seen.length} times`] : []),
    ...(order?.status === "success" && row.status === "failed" && !isIdentityCheck(row)
      ? [`${reference} was delivered, and given back`]
      : []),
    ...(order?.status === "failed" && row.status === "success" ? [`${reference} was not delivered, and charged`] : []),
    ...(order === undefined && row.status === "success" ? [`${reference} was never ordered, and charged`] : []),
    ...(order !== undefined && ![undefined, order.upstreamReference].includes(row.upstream_reference)
      ? [`${reference} bears the name of another order`]
      : []),
  ];
};

const wrongHistory = ({ world }: Stage, row: Transaction): string[] => {
  const history = world.pump.changes.filter(({ pk }) => pk === row.pk);
  const fromFinal = history.filter(({ from }) => from === "success" || from === "failed");
  const last = history.at(-1)?.to;
  return [
    ...fromFinal.map(({ from, to }) => `${row.pk} went from ${from} to ${to}`),
    ...(last === row.status ? [] : [`${row.pk} is ${row.status}, and its stream ends with ${last}`]),
  ];
};

const announcement = z.object({ data: z.object({ reference: z.string(), status: z.string() }) });

const wrongAnnouncements = ({ receiver }: Stage, row: Transaction): string[] => {
  const reference = referenceOf(row);
  const told = receiver.received.filter(({ body }) => body.includes(reference));
  const statuses = told.map(({ body }) => announcement.parse(JSON.parse(body)).data.status);
  const isEnded = row.status !== "processing";
  return [
    ...(isEnded && told.length === 0 ? [`${reference} ended ${row.status}, and nobody was told`] : []),
    ...statuses.filter((status) => status !== row.status).map((status) => `${reference} was told as ${status}`),
    ...(new Set(told.map(({ headers }) => headers.id)).size > 1 ? [`${reference} was told under several ids`] : []),
    ...(new Set(told.map(({ body }) => body)).size > 1 ? [`${reference} was told in several ways`] : []),
  ];
};

const CODE = "x-error-code";

const success = z.object({ data: z.object({ transaction: z.object({ status: z.string() }) }) });

/** An error says that its request charged nothing and left nothing open; a success, that it did. */
const wrongAnswers = ({ route, body, mode, answers }: Ask, rows: readonly Transaction[]): string[] => {
  const row = rows.find((known) => known.caller_reference === body.reference && known.mode === mode);
  return answers.flatMap((answer, position) => {
    if (answer === undefined) return [];
    const code = answer.headers[CODE];
    const what = `${route.path} ${body.reference}, answer ${position + 1}`;
    const isStanding = row !== undefined && row.status !== "failed";
    if (code === undefined) {
      const { status } = success.parse(answer.body).data.transaction;
      // What was `processing` may have ended in any way since.
      const isTrue = row !== undefined && (status === "processing" || status === row.status);
      return isTrue ? [] : [`${what}: ${status}, and the transaction is ${row?.status}`];
    }
    // The result of an earlier check is not kept for ever: the error is about that, and names the check.
    const isEarlier = position > 0 && row !== undefined && isIdentityCheck(row) && code === "reference_reused";
    return isStanding && !isEarlier ? [`${what}: ${code}, and the transaction is ${row.status}`] : [];
  });
};

/** Whatever is open and live, the operator sees. */
const invisible = async ({ world }: Stage, rows: readonly Transaction[]): Promise<string[]> => {
  const seen = new Set((await openTransactions(world.ledger, EVER)).map(({ pk }) => pk));
  const open = rows.filter(({ mode, status }) => mode === "live" && status === "processing");
  return open.filter(({ pk }) => !seen.has(pk)).map(({ pk }) => `${pk} is open, and no operator sees it`);
};

/** Numbers that are searched for here, and the family names of the simulator's people, whom nobody else is called like. */
const PERSONAL =
  /12345678900|0000000000[0-9]|Mockson|Sampleton|Testerman|Specimen|Fictive|Standin|Dummyworth|Exampleson/;
const isPersonal = (text: string): boolean => PERSONAL.test(text);

/** What is kept anywhere of the people who were searched for. */
export const keptPersonalData = async ({ db, tables }: World): Promise<readonly string[]> => {
  const kept: string[] = [];
  for (const TableName of tables) {
    for await (const { Items = [] } of paginateScan({ client: db }, { TableName })) {
      kept.push(...Items.map((item) => JSON.stringify(item)).filter(isPersonal));
    }
  }
  return kept;
};
