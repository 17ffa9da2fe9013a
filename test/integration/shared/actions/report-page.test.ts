import { beforeAll, expect, test } from "vitest";
import { marginRuns } from "../../../../shared/actions/margin.ts";
import { refundClockRuns } from "../../../../shared/actions/refund-clock.ts";
import { marginReport } from "../../../../shared/contract/reports/margin-report.ts";
import { clockReport } from "../../../../shared/contract/reports/refund-clock-report.ts";
import { ACCOUNTS_LIST, accountPk, orderDayPk } from "../../../../shared/ledger/schema.ts";
import { pagesOf } from "../../../../shared/platform/pages.ts";
import { isoTime } from "../../../../shared/platform/time.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { anActionContext, type TestContext } from "../../../builders/ledger/action-context.ts";
import { NOON_MS } from "../../../builders/run/noon.ts";

/** Goal: a report of any number of accounts is answered in pages, each of a bounded number of days and rows. */
const ACCOUNTS = 115;
/** The first accounts bought from many networks each. */
const [MANY_NETWORKS, NETWORKS] = [10, 510];
const quarter = { from: "2026-08-22", to: "2026-11-21" };

const accountId = (index: number): string => `acc_${String(index).padStart(18, "0")}`;
const createdAt = (index: number): string => isoTime(NOON_MS + index);

let context: TestContext;
beforeAll(async () => {
  context = anActionContext(await freshTables());
  const { db, table: TableName } = context.ledger;
  await Promise.all(
    Array.from({ length: ACCOUNTS }, async (_, index) => {
      const pk = accountPk(accountId(index));
      await db.put({ TableName, Item: { pk, list_key: ACCOUNTS_LIST, created_at: createdAt(index) } });
      const networks = index < MANY_NETWORKS ? NETWORKS : 1;
      const sums = Array.from({ length: networks }, (_, network) => [
        [`airtime|network-${network}|orders`, 2],
        [`airtime|network-${network}|price`, 100_50],
        [`airtime|network-${network}|cost`, 97_49],
        [`airtime|network-${network}|delivered_30_s|answer`, 2],
      ]).flat();
      await db.put({
        TableName,
        Item: { pk: orderDayPk(accountId(index), "2026-11-21"), ...Object.fromEntries(sums) },
      });
    }),
  );
});

const SUMS = MANY_NETWORKS * NETWORKS + ACCOUNTS - MANY_NETWORKS;

test("a report of more accounts and days than one page takes has each account in one page", async () => {
  const pages = await Array.fromAsync(
    pagesOf((cursor) => marginRuns["margin report"](context, { ...quarter, by: "account", cursor })),
  );
  expect(pages.map(({ accounts }) => accounts)).toEqual([110, 5]);
  const { rows, total, complete_until } = marginReport(pages);
  expect(rows.map(({ account_id }) => account_id)).toEqual(Array.from({ length: ACCOUNTS }, (_, i) => accountId(i)));
  expect(total).toMatchObject({
    orders: 2 * SUMS,
    price: (100_50 * SUMS) / 100,
    cost: (97_49 * SUMS) / 100,
    margin_percent: 3,
  });
  expect(complete_until).toBe(createdAt(0));
});

test("a report with many rows has more pages, and the sums of a group in several pages are one row", async () => {
  const by = "account,network";
  const first = await marginRuns["margin report"](context, { ...quarter, by });
  const cursor = first.next_cursor ?? undefined;
  const others = await marginRuns["margin report"](context, { from: quarter.to, to: quarter.to, by, cursor });
  const pages = [first, others];
  expect(pages.map(({ accounts, sums }) => [accounts, sums.length])).toEqual([
    [MANY_NETWORKS, MANY_NETWORKS * NETWORKS],
    [ACCOUNTS - MANY_NETWORKS, ACCOUNTS - MANY_NETWORKS],
  ]);
  const byNetwork = marginReport(
    pages.map((page) => ({ ...page, sums: page.sums.map((sums) => ({ ...sums, account_id: null })) })),
  );
  expect(byNetwork.rows).toHaveLength(NETWORKS);
  expect(byNetwork.rows[0]).toMatchObject({ network: "network-0", orders: 2 * ACCOUNTS });
});

test("the refund clock of several pages adds up how orders ended, and has what is open once", async () => {
  const pages = await Array.fromAsync(
    pagesOf((cursor) => refundClockRuns["refund-clock report"](context, { ...quarter, by: "kind", cursor })),
  );
  expect(pages.map(({ accounts, open_over_24_h }) => [accounts, open_over_24_h])).toEqual([
    [110, null],
    [5, 0],
  ]);
  const row = { orders: 2 * SUMS, within_30_s_percent: 100, delivered_30_s: 2 * SUMS };
  expect(clockReport(pages)).toMatchObject({ rows: [{ kind: "airtime", ...row }], total: row, open_over_24_h: 0 });
});

test("a report refuses a cursor of another list, days in the wrong order, and more than 92 days", async () => {
  const report = (asked: object) => marginRuns["margin report"](context, { ...quarter, by: "day", ...asked });
  await expect(report({ cursor: "abc" })).rejects.toThrow("The cursor is not of this report");
  await expect(report({ to: "2026-08-21" })).rejects.toThrow("must not be before");
  await expect(report({ to: "2026-11-22" })).rejects.toThrow("At most 92 days");
});
