import * as z from "#zod";
import { type Account, accountSchema, requireAccount } from "../access/account-store.ts";
import { changeWhitelist } from "../access/accounts.ts";
import { whitelistRanges } from "../access/key-item.ts";
import type { whitelistActions } from "../contract/actions/whitelist.ts";
import { accountIdsOf } from "../ledger/query-index.ts";
import { type IpRange, isWithin } from "../platform/ip-address.ts";
import { formatIpRange, parseIpRange, widestRanges } from "../platform/ip-range.ts";
import { NotAllowedError, OperatorError } from "../platform/operator-error.ts";
import { readAccounts } from "./accounts.ts";
import { type ActionContext, audited, requireRequest } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";

const rangeOf = (text: string): IpRange => {
  const range = parseIpRange(text);
  if (range === undefined) throw new OperatorError(`"${text}" is not an IP address or CIDR range`, { field: "ranges" });
  return range;
};

/** One spelling for each range, for comparison. */
const canonical = (text: string): string => formatIpRange(rangeOf(text));

/** The shortest prefixes that owners and operators may allow, of IPv4 and IPv6. */
const PREFIX_BITS_MIN = { owner: [24, 48], operator: [8, 16] } as const;

/** A wide range admits strangers who found a key: only an operator allows a whole network, and no one the internet. */
const assertNarrow = ({ capacity }: ActionContext, ranges: readonly string[]): void => {
  const isWiderThan = (who: keyof typeof PREFIX_BITS_MIN) => (text: string) => {
    const [prefixBits = 0, ...network] = rangeOf(text);
    const [ofIpv4, ofIpv6] = PREFIX_BITS_MIN[who];
    return prefixBits < (network.length === 4 ? ofIpv4 : ofIpv6);
  };
  const tooWide = ranges.find(isWiderThan("operator"));
  if (tooWide !== undefined)
    throw new OperatorError(`${tooWide} is wider than /8, or than /16 of IPv6`, { field: "ranges" });
  const wide = capacity === "operator" ? undefined : ranges.find(isWiderThan("owner"));
  if (wide !== undefined) {
    throw new NotAllowedError(`Only an operator allows a range wider than /24, or than /48 of IPv6: ${wide}`, {
      field: "ranges",
    });
  }
};

const rangesSchema = z.pick(accountSchema, { pk: true, status: true, whitelist: true });

const whitelistView = ({ account_id, whitelist }: Account) => ({ account_id, ips: whitelist });

export const whitelistRuns: ActionRuns<typeof whitelistActions> = {
  "ips list": async ({ accounts }, { account }) => whitelistView(await requireAccount(accounts, account)),

  "ips ranges": async (context) => {
    const accounts = await readAccounts(context, await accountIdsOf(context.ledger), rangesSchema);
    const allowed = accounts.flatMap(({ status, whitelist }) =>
      status === "closed" ? [] : whitelistRanges(whitelist),
    );
    return { ranges: widestRanges(allowed).map(formatIpRange) };
  },

  "ips mine": async (context, { account }) => {
    const { sourceIp: address } = requireRequest(context);
    const { whitelist } = await requireAccount(context.accounts, account);
    return { address, is_allowed: isWithin(address, whitelistRanges(whitelist)) };
  },

  "ips allow": async (context, { account, ranges, why }) => {
    assertNarrow(context, ranges);
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
