import type { Command } from "commander";
import * as z from "zod";
import { type Account, requireAccount } from "../../../shared/access/account-store.ts";
import { changeWhitelist } from "../../../shared/access/accounts.ts";
import { audited } from "../../../shared/actions/action-context.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import { formatIpRange, parseIpRange } from "../../../shared/platform/ip-range.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { addCommand, addGroup, type Report, why } from "../command.ts";
import { accountField } from "../fields.ts";
import { table } from "../views/print.ts";

const rangeField = z.string().refine((text) => parseIpRange(text) !== undefined, {
  error: ({ input }) => `"${input}" is not an IP address or CIDR range`,
});
const changeInput = z.object({ account: accountField, range: z.array(rangeField), why: whySchema.optional() });

export const addIps = (program: Command): void => {
  const group = addGroup(program, "ips", "Manage the addresses from which an account may call");
  addCommand(group, {
    usage: "allow <account> <range...>",
    summary: "Allow addresses or CIDR ranges, for all keys of the account",
    example: "allow acc_0123456789abcdef01 203.0.113.7 2001:db8::/64",
    options: [why],
    input: changeInput,
    run: async (context, { account, range, why }) => {
      const store = audited(context, () => ({ action: "ips allow", why, details: { ranges: range.join(" ") } }));
      return whitelistReport(
        await changeWhitelist(store, account, (before) => {
          const present = new Set(before.map(canonical));
          const added = range.filter((entry) => !present.has(canonical(entry)));
          return added.length === 0 ? undefined : [...before, ...added];
        }),
      );
    },
  });
  addCommand(group, {
    usage: "disallow <account> <range...>",
    summary: "Remove addresses or CIDR ranges from the list, as ips list shows them",
    example: "disallow acc_0123456789abcdef01 203.0.113.7",
    options: [why],
    input: changeInput,
    run: async (context, { account, range, why }) => {
      const store = audited(context, () => ({ action: "ips disallow", why, details: { ranges: range.join(" ") } }));
      return whitelistReport(
        await changeWhitelist(store, account, (before) => {
          const present = new Set(before.map(canonical));
          const unknown = range.find((entry) => !present.has(canonical(entry)));
          if (unknown !== undefined)
            throw new OperatorError(`${unknown} is not on the list of ${account}. See ips list ${account}`);
          const removed = new Set(range.map(canonical));
          return before.filter((entry) => !removed.has(canonical(entry)));
        }),
      );
    },
  });
  addCommand(group, {
    usage: "list <account>",
    readOnly: true,
    summary: "List the allowed addresses; with none the account cannot call",
    example: "list acc_0123456789abcdef01",
    input: z.object({ account: accountField }),
    run: async (context, { account }) => whitelistReport(await requireAccount(context.accounts, account)),
  });
};

/** One spelling for each range, for comparison. */
const canonical = (text: string): string => {
  const range = parseIpRange(text);
  return range === undefined ? text : formatIpRange(range);
};

const whitelistReport = ({ account_id, whitelist }: Account): Report => ({
  json: { account_id, ips: whitelist },
  text: table(
    ["address or range"],
    whitelist.map((entry) => [entry]),
  ),
});
