import { type Account, requireAccount } from "../access/account-store.ts";
import { changeWhitelist } from "../access/accounts.ts";
import { whitelistRanges } from "../access/key-item.ts";
import type { whitelistActions } from "../contract/actions/whitelist.ts";
import { formatIpRange, isWithin, parseIpRange } from "../platform/ip-range.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { audited } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";

/** One spelling for each range, for comparison. */
const canonical = (text: string): string => {
  const range = parseIpRange(text);
  if (range === undefined) throw new OperatorError(`"${text}" is not an IP address or CIDR range`);
  return formatIpRange(range);
};

const whitelistView = ({ account_id, whitelist }: Account) => ({ account_id, ips: whitelist });

export const whitelistRuns: ActionRuns<typeof whitelistActions> = {
  "ips list": async ({ accounts }, { account }) => whitelistView(await requireAccount(accounts, account)),

  "ips mine": async ({ accounts, request }, { account }) => {
    if (request === undefined) throw new Error("Only the console knows the address of a request");
    const { whitelist } = await requireAccount(accounts, account);
    return { address: request.sourceIp, is_allowed: isWithin(request.sourceIp, whitelistRanges(whitelist)) };
  },

  "ips allow": async (context, { account, ranges, why }) => {
    const store = audited(context, () => ({ action: "ips allow", why, details: { ranges: ranges.join(" ") } }));
    return whitelistView(
      await changeWhitelist(store, account, (before) => {
        const present = new Set(before.map(canonical));
        const added = ranges.filter((entry) => !present.has(canonical(entry)));
        return added.length === 0 ? undefined : [...before, ...added];
      }),
    );
  },

  "ips disallow": async (context, { account, ranges, why }) => {
    const store = audited(context, () => ({ action: "ips disallow", why, details: { ranges: ranges.join(" ") } }));
    return whitelistView(
      await changeWhitelist(store, account, (before) => {
        const present = new Set(before.map(canonical));
        const unknown = ranges.find((entry) => !present.has(canonical(entry)));
        if (unknown !== undefined)
          throw new OperatorError(`${unknown} is not on the list of ${account}`, {
            command: `See ips list ${account}`,
          });
        const removed = new Set(ranges.map(canonical));
        return before.filter((entry) => !removed.has(canonical(entry)));
      }),
    );
  },
};
