import { beforeAll, expect, test } from "vitest";
import { AccountError } from "../../../../shared/access/account-store.ts";
import { accountsRuns } from "../../../../shared/actions/accounts.ts";
import { whitelistRuns } from "../../../../shared/actions/whitelist.ts";
import { readAudit } from "../../../../shared/ledger/audit.ts";
import { OperatorError } from "../../../../shared/platform/operator-error.ts";
import { anActionContext, anOwnersRequest } from "../../../builders/action-context.ts";
import { freshTables } from "../../../builders/tables.ts";

let tables: Awaited<ReturnType<typeof freshTables>>;
beforeAll(async () => {
  tables = await freshTables();
});

const context = () => anActionContext(tables, anOwnersRequest());
const anAccount = async () =>
  (await accountsRuns["accounts create"](anActionContext(tables), { name: "checkout" })).account_id;

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

test("a range that is on the list in another spelling is neither added again nor unknown", async () => {
  const account = await anAccount();
  await whitelistRuns["ips allow"](context(), { account, ranges: ["2001:db8::/64", "10.0.0.0/8"] });
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
    await expect(refused).rejects.toEqual(new OperatorError(`"${range}" is not an IP address or CIDR range`));
  }
  const unknown = whitelistRuns["ips disallow"](context(), { account, ranges: ["10.9.9.9"] });
  await expect(unknown).rejects.toMatchObject({ sentence: `10.9.9.9 is not on the list of ${account}` });
  await expect(whitelistRuns["ips allow"](context(), { account, ranges: many })).rejects.toThrow(AccountError);
  expect((await whitelistRuns["ips list"](context(), { account })).ips).toEqual(["203.0.113.7"]);
});
