import { expect, test } from "vitest";
import { accountsRuns } from "../../../../shared/actions/accounts.ts";
import type { ActionContext } from "../../../../shared/actions/action-context.ts";
import { whitelistRuns } from "../../../../shared/actions/whitelist.ts";
import { MINUTE_MS } from "../../../../shared/contract/values/durations.ts";
import { readAudit } from "../../../../shared/ledger/audit.ts";
import { OperatorError } from "../../../../shared/platform/operator-error.ts";
import { freshTables } from "../../../builders/dynamodb/tables.ts";
import { anActionContext, anOwnersRequest } from "../../../builders/ledger/action-context.ts";

const tables = await freshTables();

const context = () => anActionContext(tables, anOwnersRequest());
const anAccount = async () => {
  const operator = anActionContext(tables);
  const { account_id: account } = await accountsRuns["accounts create"](operator, { name: "checkout" });
  const owners = [{ kind: "email" as const, value: "bola@example.com" }];
  await accountsRuns["accounts owners"](operator, { account, owners });
  return account;
};

test("the address of the request is the caller's own, which can be allowed", async () => {
  const account = await anAccount();
  const { address, is_allowed } = await whitelistRuns["ips mine"](context(), { account });
  expect([address, is_allowed]).toEqual(["203.0.113.7", false]);
  expect(await whitelistRuns["ips allow"](context(), { account, ranges: [address] })).toEqual({
    account_id: account,
    ips: [address],
  });
  expect(await whitelistRuns["ips list"](context(), { account })).toEqual({ account_id: account, ips: [address] });
  await whitelistRuns["ips allow"](context(), { account, ranges: ["203.0.113.0/24"] });
  await whitelistRuns["ips disallow"](context(), { account, ranges: [address] });
  expect(await whitelistRuns["ips mine"](context(), { account })).toEqual({ address, is_allowed: true });
});

test("an owner allows no range wider than /24 or /48, an operator none wider than /8 or /16, and the list stays", async () => {
  const account = await anAccount();
  const allow = (by: ActionContext, range: string) =>
    whitelistRuns["ips allow"](by, { account, ranges: ["203.0.113.7", range] }).then(
      () => "allowed",
      (error: Error) => error.name,
    );
  const operator = anActionContext(tables);
  const wide = ["203.0.112.0/23", "10.0.0.0/8", "2001:db8::/47", "2001::/16"];
  const tooWide = ["0.0.0.0/0", "128.0.0.0/1", "10.0.0.0/7", "::/0", "2001::/15"];
  for (const range of wide) expect([range, await allow(context(), range)]).toEqual([range, "NotAllowedError"]);
  for (const range of tooWide) {
    expect([range, await allow(context(), range), await allow(operator, range)]).toEqual([
      range,
      "OperatorError",
      "OperatorError",
    ]);
  }
  expect((await whitelistRuns["ips list"](context(), { account })).ips).toEqual([]);
  for (const range of ["203.0.113.0/24", "2001:db8::/48"]) expect(await allow(context(), range)).toBe("allowed");
  for (const range of wide) expect(await allow(operator, range)).toBe("allowed");
});

test("the ranges of all accounts are listed once, without those within a wider one and those of closed accounts", async () => {
  const own = await freshTables();
  const operator = anActionContext(own);
  const create = async () => (await accountsRuns["accounts create"](operator, { name: "checkout" })).account_id;
  const [first, second, closed] = [await create(), await create(), await create()];
  const allow = (account: string, ...ranges: string[]) => whitelistRuns["ips allow"](operator, { account, ranges });
  await allow(first, "198.51.100.9", "198.51.100.0/24", "2001:db8:5::1");
  await allow(second, "198.51.100.64/26", "198.51.101.1", "2001:DB8:5:0::/48", "198.51.99.255");
  await allow(closed, "198.51.102.1");
  await accountsRuns["accounts restrict"](operator, { account: second });
  await accountsRuns["accounts restrict"](operator, { account: closed });
  const later = anActionContext(own, { clock: () => Date.now() + 3 * MINUTE_MS });
  await accountsRuns["accounts close"](later, { account: closed });
  const { ranges } = await whitelistRuns["ips ranges"](operator, {});
  expect(ranges).toEqual(["198.51.99.255", "198.51.100.0/24", "198.51.101.1", "2001:db8:5::/48"]);
});

test("a range that is on the list in another spelling is neither added again nor unknown", async () => {
  const account = await anAccount();
  await whitelistRuns["ips allow"](anActionContext(tables), { account, ranges: ["2001:db8::/64", "10.0.0.0/8"] });
  const again = await whitelistRuns["ips allow"](context(), { account, ranges: ["2001:0db8:0::/64"] });
  expect(again.ips).toEqual(["2001:db8::/64", "10.0.0.0/8"]);
  const removed = await whitelistRuns["ips disallow"](context(), { account, ranges: ["2001:0DB8::/64"], why: "moved" });
  expect(removed.ips).toEqual(["10.0.0.0/8"]);
  const audit = await readAudit(context().ledger, account);
  const changes = audit.filter(({ action }) => action.startsWith("ips "));
  expect(new Set(changes.map(({ action, details, why }) => [action, details.ranges, why]))).toEqual(
    new Set([
      ["ips allow", "2001:db8::/64 10.0.0.0/8", undefined],
      ["ips disallow", "2001:0DB8::/64", "moved"],
    ]),
  );
});

test("an address that is none, one that is not on the list, and a 21st are refused, and the list stays", async () => {
  const account = await anAccount();
  await whitelistRuns["ips allow"](context(), { account, ranges: ["203.0.113.7"] });
  const many = Array.from({ length: 20 }, (_, n) => `10.0.0.${n}`);
  for (const range of ["127.0.0.999", "app.example", "::ffff:10.0.0.1"]) {
    const refused = whitelistRuns["ips allow"](context(), { account, ranges: [range] });
    await expect(refused).rejects.toEqual(
      new OperatorError(`"${range}" is not an IP address or CIDR range`, { field: "ranges" }),
    );
  }
  const unknown = whitelistRuns["ips disallow"](context(), { account, ranges: ["10.9.9.9"] });
  await expect(unknown).rejects.toMatchObject({ sentence: `10.9.9.9 is not on the list of ${account}` });
  await expect(whitelistRuns["ips allow"](context(), { account, ranges: many })).rejects.toThrow(OperatorError);
  expect((await whitelistRuns["ips list"](context(), { account })).ips).toEqual(["203.0.113.7"]);
});
