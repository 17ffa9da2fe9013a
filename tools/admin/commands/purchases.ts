import type { Command } from "commander";
import * as z from "zod";
import { purchasesRuns, purchasesText } from "../../../shared/actions/purchases.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import { purchasesActions } from "../../../shared/contract/actions/purchases.ts";
import { GATE_CACHE_MS } from "../../../shared/orders/order-gate.ts";
import { addCommand, addGroup, type Report, why, whyRequired } from "../command.ts";
import { duration } from "../views/print.ts";

export const addPurchases = (program: Command): void => {
  const group = addGroup(program, "purchases", "Switch all new orders off and on, identity checks included");
  addCommand(group, {
    usage: "show",
    readOnly: true,
    summary: purchasesActions["purchases show"].summary,
    example: "show",
    input: z.object({}),
    run: async (context) => {
      const json = await purchasesRuns["purchases show"](context, {});
      return { json, text: purchasesText(json) };
    },
  });
  addCommand(group, {
    usage: "off",
    summary:
      "Refuse every new order (503) before its debit, and neither send nor refund waiting orders; replays and lookups are answered as before",
    example: 'off --why "restore of the ledger, ticket 97"',
    options: [whyRequired],
    input: z.object({ why: whySchema }),
    run: async (context, input) => switchReport(await purchasesRuns["purchases off"](context, input)),
  });
  addCommand(group, {
    usage: "on",
    summary: purchasesActions["purchases on"].summary,
    example: "on",
    options: [why],
    input: z.object({ why: whySchema.optional() }),
    run: async (context, input) => switchReport(await purchasesRuns["purchases on"](context, input)),
  });
};

type Switched = z.output<(typeof purchasesActions)["purchases off"]["output"]>;

const switchReport = (json: Switched): Report => {
  if (!json.changed) return { json, text: `Nothing was changed: ${purchasesText(json)}.` };
  const text = `${purchasesText(json)}\nEvery function follows within ${duration(GATE_CACHE_MS)}.`;
  if (json.audit_error === undefined) return { json, text };
  const failure = `The audit entry could not be written (${json.audit_error}); the switch itself records who, when and why.`;
  return { ok: false, json, text: `${text}\n${failure}` };
};
