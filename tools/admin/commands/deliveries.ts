import type { Command } from "commander";
import * as z from "zod";
import { deliveriesRuns, isWebhookId, requireAccountEvent } from "../../../shared/actions/deliveries.ts";
import { requireTransaction } from "../../../shared/actions/lookup.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import { deliveriesActions } from "../../../shared/contract/actions/deliveries.ts";
import { addCommand, type Report, why } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { stateText } from "../views/deliveries.ts";
import { fields, table } from "../views/print.ts";

export const addDeliveryCommands = (group: Command): void => {
  addCommand(group, {
    usage: "show <reference>",
    readOnly: true,
    summary: deliveriesActions["deliveries show"].summary,
    example: "show DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
    input: z.object({ reference: z.string() }),
    run: show,
  });
  addCommand(group, {
    usage: "replay <reference>",
    summary: deliveriesActions["deliveries replay"].summary,
    example: "replay DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
    options: [why],
    input: z.object({ reference: z.string(), why: whySchema.optional() }),
    run: replay,
  });
};

const show = async (context: AdminContext, { reference }: { readonly reference: string }): Promise<Report> => {
  const account = await accountOf(context, reference);
  const { deliveries } = await deliveriesRuns["deliveries show"](context, { account, reference });
  const json = {
    reference,
    deliveries: deliveries.map(({ attempts, ...delivery }) => ({
      ...delivery,
      attempts: attempts.map(({ request_headers: _request, response_headers: _response, ...attempt }) => attempt),
    })),
  };
  return {
    json,
    text: table(
      ["webhook id", "status", "state", "resend", "attempt", "at", "outcome", "http", "ms"],
      deliveries.flatMap((delivery) => {
        const first = [delivery.webhook_id, delivery.status, stateText(delivery), delivery.repeat];
        if (delivery.attempts.length === 0) return [[...first, 0]];
        return delivery.attempts.map(({ number, at, outcome, http_status, duration_ms }) => [
          ...first,
          ...[number, at, outcome, http_status, duration_ms],
        ]);
      }),
    ),
  };
};

const replay = async (
  context: AdminContext,
  { reference, why }: { readonly reference: string; readonly why?: string | undefined },
): Promise<Report> => {
  const account = await accountOf(context, reference);
  const json = await deliveriesRuns["deliveries replay"](context, { account, reference, why });
  return { json, text: fields(json) };
};

/** The account whose transaction, or whose event on request, an operator names. */
const accountOf = async (context: AdminContext, reference: string): Promise<string> => {
  const { account_id } = isWebhookId(reference)
    ? await requireAccountEvent(context, reference)
    : await requireTransaction(context, reference);
  return account_id;
};
