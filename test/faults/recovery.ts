import { DeleteCommand } from "@aws-sdk/lib-dynamodb";
import { openTransactions } from "../../shared/ledger/find-transactions.ts";
import { accountPk } from "../../shared/ledger/schema.ts";
import { isIdentityCheck, referenceOf } from "../../shared/ledger/transaction.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { resolveTransaction } from "../../shared/upstream-events/operator-resolution.ts";
import type { Stage } from "./stage.ts";
import { advance } from "./world/clock.ts";
import type { World } from "./world/world.ts";

/** Who helps after a fault: everybody whom production has, or nobody but the queues, the stream and the schedules. */
export const helpers = ["everybody", "nobody"] as const;
export type Helpers = (typeof helpers)[number];

/** Longer than the queues hide a message, and than a doubtful debit is waited for. */
const ROUND_MS = 185_000;
const ROUNDS_MAX = 60;
/** From here on an unanswered check is refunded. */
const ABANDONED_MS = 6 * 60_000;

/** Lets the world come to rest, without further faults. */
export const recover = async (stage: Stage, help: Helpers): Promise<void> => {
  const { world } = stage;
  world.plan = () => undefined;
  world.strict()?.calm();
  if (help === "everybody") {
    await repeatUnanswered(stage);
    await reportOrders(stage);
  }
  await comeToRest(world);
  advance(ABANDONED_MS);
  await world.strike("reconcile-ledger");
  await world.strike("refresh-catalog");
  await comeToRest(world);
  if (help === "everybody") {
    await resolveOpen(stage);
    await comeToRest(world);
  }
};

/** Delivers and waits until the queues and the stream are empty. */
export const comeToRest = async (world: World): Promise<void> => {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    await world.pump.once();
    if ((await world.pump.waiting()) === 0) {
      world.strict()?.passLag();
      return;
    }
    advance(ROUND_MS);
  }
  throw new Error(`The queues are not empty after ${ROUNDS_MAX} rounds`);
};

/** The app's and the operator's part: what got no answer is asked again. */
const repeatUnanswered = async (stage: Stage): Promise<void> => {
  for (const ask of stage.asks) {
    for (let tries = 0; ask.answers.at(-1) === undefined && tries < 3; tries += 1) await stage.repeat(ask);
  }
  for (const command of stage.commands) {
    if (command.ending.kind !== "returned") command.ending = await stage.world.run(command.work);
  }
};

/** The upstream's part: it ends what it took, and reports it until it is heard. */
const reportOrders = async ({ world, accountId }: Stage): Promise<void> => {
  const open = await openTransactions(world.ledger, EVER);
  for (const transaction of open.filter(({ account_id }) => account_id === accountId)) {
    const order = world.upstream.purchases.find(({ reference }) => reference === referenceOf(transaction));
    if (order === undefined || isIdentityCheck(transaction)) continue;
    world.upstream.settle(order, "success");
    const ended = order.status === "failed" ? "failed" : "success";
    for (let tries = 0; tries < 3; tries += 1) if (await world.report(order, ended)) break;
  }
};

const EVER = { from: "0000", to: "9999" };

/** The operator's part: what is still open is resolved as the upstream's own books say. */
export const resolveOpen = async ({ world, accountId }: Stage): Promise<void> => {
  const open = await openTransactions(world.ledger, EVER);
  for (const transaction of open.filter(({ account_id }) => account_id === accountId)) {
    const order = world.upstream.purchases.find(({ reference }) => reference === referenceOf(transaction));
    const status = order?.status === "success" && !isIdentityCheck(transaction) ? "success" : "failed";
    try {
      await resolveTransaction(world.ledger, transaction, status, { by: "test", why: "as the upstream's books say" });
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
    }
  }
};

/**
 * Leaves nothing open that a later stage's event could be taken to be about, and no account whose wallet each watch of the ledger
 * would prove.
 */
export const leaveStage = async (stage: Stage): Promise<void> => {
  const { world, receiver, accountId } = stage;
  await resolveOpen(stage);
  await comeToRest(world);
  const Key = { pk: accountPk(accountId) };
  await world.db.send(new DeleteCommand({ TableName: world.accounts.ledgerTable, Key }));
  world.upstream.reset();
  world.pump.changes.length = 0;
  world.logged.length = 0;
  receiver.received.length = 0;
};
