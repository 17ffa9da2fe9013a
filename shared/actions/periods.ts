import * as z from "#zod";
import type { ActionOutput } from "../contract/actions/actions.ts";
import { PERIOD_LINES_MAX, type periodsActions } from "../contract/actions/periods.ts";
import { nairaFromKobo } from "../contract/values/money.ts";
import { monthAfter } from "../contract/values/time-zone.ts";
import { SERVICE } from "../ledger/audit.ts";
import { readTransactions } from "../ledger/find-transactions.ts";
import { getItems } from "../ledger/get-item.ts";
import {
  type AccountPeriod,
  listServicePeriods,
  readAccountPeriod,
  readAccountPeriods,
  readServicePeriod,
  type ServicePeriod,
} from "../ledger/period.ts";
import { ALL_TIMES, indexKeySchema, queryListInOrder } from "../ledger/query-index.ts";
import { ACCOUNTS_LIST, accountIdOf, transactionIdOf, transactionPk } from "../ledger/schema.ts";
import {
  byTimeKindAndId,
  readStatementPage,
  type StatementLine,
  type StatementPage,
  statedOrder,
  statementPositionSchema,
} from "../ledger/statement.ts";
import { pkOfReference, transactionSchema } from "../ledger/transaction.ts";
import { beginClosing, closeService, closingSchema, continueClosing, kindNames } from "../periods/close-period.ts";
import { monthToClose, nextToClose } from "../periods/month-to-close.ts";
import { continueVerifying, verifyingSchema } from "../periods/verify-period.ts";
import { deadlineIn } from "../platform/deadline.ts";
import { NotFoundError, OperatorError } from "../platform/operator-error.ts";
import { orNull } from "../platform/or-null.ts";
import { type ActionContext, auditItem } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";
import { openCursor, sealCursor } from "./cursor.ts";
import { statementLineView } from "./wallet.ts";

/** A call begins no further step after this time: a step takes some seconds at most, and the function has 29. */
const CALL_MS = 8_000;
const ACCOUNTS_PER_PAGE = 100;

export const periodsRuns: ActionRuns<typeof periodsActions> = {
  "periods list": async (context) => {
    const { ledger, timeZone } = context;
    const periods = await listServicePeriods(ledger);
    return {
      time_zone: timeZone,
      next: nextToClose(ledger, periods[0]?.month, context),
      periods: periods.map(serviceView),
    };
  },
  "periods show": async ({ ledger }, { month }) => serviceView(await requirePeriod({ ledger }, month)),
  "periods accounts": async (context, { month, cursor }) => {
    const { ledger } = context;
    const { to } = await requirePeriod(context, month);
    const start = await openCursor(context, ["periods accounts", month], indexKeySchema, cursor, "period");
    const range = { from: ALL_TIMES.from, to };
    const { keys, next } = await queryListInOrder(ledger, ACCOUNTS_LIST, range, start, ACCOUNTS_PER_PAGE);
    const accountIds = keys.map(({ pk }) => accountIdOf(pk));
    return {
      accounts: (await readAccountPeriods(ledger, month, accountIds)).map(accountView),
      next_cursor: await sealCursor(context, ["periods accounts", month], next),
    };
  },
  "periods lines": async (context, { month, account, cursor }) => {
    const { ledger } = context;
    const period = await readAccountPeriod(ledger, month, account);
    if (period === undefined) throw new NotFoundError(`${account} has no closed period ${month}`);
    const list = ["periods lines", month, account];
    const start = await openCursor(context, list, statementPositionSchema, cursor, "period");
    const limits = { linesMax: PERIOD_LINES_MAX, itemsMax: LINES_READ_MAX };
    const page = await readStatementPage(ledger, account, period, start, limits);
    if (page.next === undefined) assertIsAsClosed(period, page);
    return {
      lines: await withCosts(context, page.lines, period),
      cost_changes: page.next === undefined ? await costChanges(context, period) : [],
      next_cursor: await sealCursor(context, list, page.next),
    };
  },
  "periods close": async (context, { month, cursor, why }) => {
    const { ledger } = context;
    const closed = await readServicePeriod(ledger, month);
    if (closed !== undefined) return closedView(closed);
    const toClose = await monthToClose(ledger, month, context);
    // What was begun with another zone, or before the month before was closed, is begun again.
    const list = ["periods close", month, toClose.from, toClose.to, toClose.previous];
    const begun =
      (await openCursor(context, list, closingSchema, cursor, "period")) ?? (await beginClosing(ledger, toClose));
    const progress = await continueClosing(ledger, toClose, begun, deadlineIn(CALL_MS));
    if (progress !== undefined) {
      const { closing, waitMs } = progress;
      return {
        month,
        state: closing.phase === "seal" ? "sealing" : "closing",
        accounts: closing.accounts,
        accounts_done: closing.done,
        wait_ms: waitMs,
        next_cursor: await sealCursor(context, list, closing),
        period: null,
      };
    }
    await closeService(ledger, toClose, ({ hash }) =>
      auditItem(context, SERVICE, { action: "periods close", why, details: { month, hash } }),
    );
    return closedView(await requirePeriod(context, month));
  },
  "periods verify": async (context, { month, cursor }) => {
    const period = await requirePeriod(context, month);
    const list = ["periods verify", month];
    const begun = (await openCursor(context, list, verifyingSchema, cursor, "period")) ?? { done: 0 };
    const { differences, next } = await continueVerifying(context.ledger, period, begun, deadlineIn(CALL_MS));
    return {
      ok: differences.length === 0,
      month,
      accounts: period.accounts,
      accounts_done: next?.done ?? period.accounts,
      differences: [...differences],
      next_cursor: await sealCursor(context, list, next),
    };
  },
};

/** Lines before the first closed period are summed up for it too. */
const LINES_READ_MAX = 5_000;

const requirePeriod = async ({ ledger }: Pick<ActionContext, "ledger">, month: string): Promise<ServicePeriod> => {
  const period = await readServicePeriod(ledger, month);
  if (period === undefined) throw new NotFoundError(`${month} is not closed`);
  return period;
};

const sumsView = ({
  opening_kobo,
  closing_kobo,
  kinds,
  pk: _pk,
  list_key: _list,
  created_at: _at,
  ...rest
}: Omit<AccountPeriod, "version" | "open_costs"> | ServicePeriod) => ({
  ...rest,
  opening: nairaFromKobo(opening_kobo),
  closing: nairaFromKobo(closing_kobo),
  kinds: kindNames(kinds).flatMap((kind) => {
    const sum = kinds[kind];
    return sum === undefined ? [] : [{ kind, count: sum.count, amount: nairaFromKobo(sum.kobo) }];
  }),
});

const serviceView = (period: ServicePeriod) => ({ ...sumsView(period), accounts: period.accounts });
const accountView = ({ version: _version, open_costs: _costs, ...period }: AccountPeriod) => ({
  ...sumsView(period),
  account_id: period.account_id,
});

const closedView = (period: ServicePeriod): z.input<(typeof periodsActions)["periods close"]["output"]> => ({
  month: period.month,
  state: "closed",
  accounts: period.accounts,
  accounts_done: period.accounts,
  wait_ms: 0,
  next_cursor: null,
  period: serviceView(period),
});

/** The index that the lines are read from may lack some, and a person may have changed them. */
const assertIsAsClosed = (
  { account_id, month, closing_kobo, version }: AccountPeriod,
  read: Pick<StatementPage, "closing_kobo" | "version">,
): void => {
  if (read.closing_kobo === closing_kobo && read.version === version) return;
  throw new OperatorError(
    `The lines of ${account_id} are not those with which ${month} was closed. Read them again in a minute`,
    { command: `If that does not help, periods verify ${month} names the first one that differs` },
  );
};

/**
 * What an order cost is in its transaction: it may be known after the debit, so it is no part of the line. Of one that was
 * open when the period was closed it is what was known then.
 */
const withCosts = async (
  { ledger }: ActionContext,
  lines: readonly StatementLine[],
  { time_zone, open_costs = {} }: AccountPeriod,
): Promise<ActionOutput<"periods lines">["lines"]> => {
  const orderOf = ({ kind, id }: StatementLine): string | undefined =>
    kind === "funding" || kind === "adjustment" ? undefined : pkOfReference(id);
  const orders = await getItems(
    ledger,
    lines.flatMap((line) => orderOf(line) ?? []),
    z.pick(transactionSchema, { pk: true, cost_kobo: true }),
  );
  const costs = new Map(orders.map(({ pk, cost_kobo }) => [pk, cost_kobo ?? null]));
  for (const [id, cost] of Object.entries(open_costs)) costs.set(transactionPk(id), cost);
  return lines.map((line) => {
    const kobo = costs.get(orderOf(line) ?? "") ?? undefined;
    const sign = line.kind === "refund" ? -1 : 1;
    return { ...statementLineView(line, time_zone), cost: orNull(kobo, (each) => nairaFromKobo(sign * each)) };
  });
};

/**
 * What the orders cost now that were open when the month before was closed, and have ended since. One that ended after the
 * end of this month, before it was closed, has the time of its end.
 */
const costChanges = async (
  { ledger }: ActionContext,
  { account_id, month, to, time_zone, closing_kobo, open_costs = {} }: AccountPeriod,
): Promise<ActionOutput<"periods lines">["cost_changes"]> => {
  const before = (await readAccountPeriod(ledger, monthAfter(month, -1), account_id))?.open_costs ?? {};
  const ended = Object.keys(before).filter((id) => !Object.hasOwn(open_costs, id));
  const orders = await readTransactions(
    ledger,
    ended.map((id) => ({ pk: transactionPk(id) })),
  );
  const changes = orders.flatMap((order) => {
    const costBefore = before[transactionIdOf(order)] ?? undefined;
    if (order.cost_kobo === undefined || order.cost_kobo === costBefore) return [];
    const at = order.updated_at < to ? order.updated_at : to;
    const line = { ...statedOrder(order), at, kind: order.type, effect_kobo: 0, balance_after_kobo: closing_kobo };
    return [
      {
        ...statementLineView(line, time_zone),
        kind: "cost_change" as const,
        cost: nairaFromKobo(order.cost_kobo - (costBefore ?? 0)),
        unknown_price: nairaFromKobo(costBefore === undefined ? order.amount_kobo : 0),
      },
    ];
  });
  return changes.toSorted(byTimeKindAndId);
};
