import type { Command } from "commander";
import * as z from "zod";
import { whitelistRuns } from "../../../shared/actions/whitelist.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { whitelistActions } from "../../../shared/contract/actions/whitelist.ts";
import { parseIpRange } from "../../../shared/platform/ip-range.ts";
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
    summary: whitelistActions["ips allow"].summary,
    example: "allow acc_0123456789abcdef01 203.0.113.7 2001:db8::/64",
    options: [why],
    input: changeInput,
    run: async (context, { account, range, why }) =>
      whitelistReport(await whitelistRuns["ips allow"](context, { account, ranges: range, why })),
  });
  addCommand(group, {
    usage: "disallow <account> <range...>",
    summary: whitelistActions["ips disallow"].summary,
    example: "disallow acc_0123456789abcdef01 203.0.113.7",
    options: [why],
    input: changeInput,
    run: async (context, { account, range, why }) =>
      whitelistReport(await whitelistRuns["ips disallow"](context, { account, ranges: range, why })),
  });
  addCommand(group, {
    usage: "list <account>",
    readOnly: true,
    summary: whitelistActions["ips list"].summary,
    example: "list acc_0123456789abcdef01",
    input: z.object({ account: accountField }),
    run: async (context, input) => whitelistReport(await whitelistRuns["ips list"](context, input)),
  });
};

const whitelistReport = (json: ActionOutput<"ips list">): Report => ({
  json,
  text: table(
    ["address or range"],
    json.ips.map((entry) => [entry]),
  ),
});
