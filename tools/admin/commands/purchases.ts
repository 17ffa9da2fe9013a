import type { Command } from "commander";
import * as z from "zod";
import { recordAudited } from "../../../shared/actions/action-context.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import { SERVICE } from "../../../shared/ledger/audit.ts";
import { GATE_CACHE_MS } from "../../../shared/orders/order-gate.ts";
import { type OnOrOff, readPurchasesSwitch, writePurchasesSwitch } from "../../../shared/orders/purchases-switch.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { addCommand, addGroup, type Report, why, whyRequired } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { duration } from "../views/print.ts";
import { purchasesText, purchasesView } from "../views/purchases.ts";

export const addPurchases = (program: Command): void => {
  const group = addGroup(program, "purchases", "Switch all new orders off and on, identity checks included");
  addCommand(group, {
    usage: "show",
    readOnly: true,
    summary: "Show whether purchases are on, since when, by whom and why",
    example: "show",
    input: z.object({}),
    run: async ({ purchases }) => {
      const state = await readPurchasesSwitch(purchases);
      return { json: purchasesView(state), text: purchasesText(state) };
    },
  });
  addCommand(group, {
    usage: "off",
    summary:
      "Refuse every new order (503) before its debit, and neither send nor refund waiting orders; replays and lookups are answered as before",
    example: 'off --why "restore of the ledger, ticket 97"',
    options: [whyRequired],
    input: z.object({ why: whySchema }),
    run: (context, { why }) => switchPurchases(context, "off", why),
  });
  addCommand(group, {
    usage: "on",
    summary: "Accept orders again",
    example: "on",
    options: [why],
    input: z.object({ why: whySchema.optional() }),
    run: (context, { why }) => switchPurchases(context, "on", why),
  });
};

const switchPurchases = async (context: AdminContext, purchases: OnOrOff, why: string | undefined): Promise<Report> => {
  const before = await readPurchasesSwitch(context.purchases);
  // A switch that was never used is set even so: what holds without it changes when the stage adopts a ledger.
  if (before.purchases === purchases && before.since !== undefined) {
    return {
      json: { ...purchasesView(before), changed: false },
      text: `Nothing was changed: ${purchasesText(before)}.`,
    };
  }
  const audit = () => recordAudited(context, SERVICE, { action: `purchases ${purchases}`, why });
  const next = { purchases, since: isoTime(context.ledger.clock()), ...context.actor(), why };
  const json = { ...purchasesView(next), changed: true };
  const text = `${purchasesText(next)}\nEvery function follows within ${duration(GATE_CACHE_MS)}.`;
  if (purchases === "on") {
    await audit();
    await writePurchasesSwitch(context.purchases, next);
    return { json, text };
  }
  // Off comes first: the ledger, which takes the audit entry, may be what is damaged.
  await writePurchasesSwitch(context.purchases, next);
  try {
    await audit();
    return { json, text };
  } catch (error) {
    const name = error instanceof Error ? error.name : String(error);
    const failure = `The audit entry could not be written (${name}); the switch itself records who, when and why.`;
    return { ok: false, json: { ...json, audit_error: name }, text: `${text}\n${failure}` };
  }
};
