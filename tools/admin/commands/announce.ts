import type { Command } from "commander";
import type * as z from "#zod";
import { deliveriesActions } from "../../../shared/contract/actions/deliveries.ts";
import { deliveryQueue } from "../../../shared/webhooks/delivery-queue.ts";
import { addCommand, type Report, why } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { enqueueRange } from "../enqueue-range.ts";
import { END_TIME } from "../fields.ts";
import { perform } from "../perform.ts";
import { fields, logProgress } from "../views/print.ts";

const { input } = deliveriesActions.announce;

export const addAnnounce = (program: Command): void => {
  addCommand(program, {
    usage: "announce",
    isAction: true,
    summary:
      "Resend the webhooks of all transactions that became final in a period, to all accounts; use after an outage",
    example: "announce --from 2026-11-21T09:00:00Z --to 2026-11-21T10:00:00Z",
    options: [
      {
        flags: "--from <time>",
        text: "start of the period, a date or a time; transactions made more than 30 days before it are left out",
        required: true,
      },
      {
        flags: "--to <time>",
        text: `end of the period: ${END_TIME}; default: now`,
      },
      { flags: "--name <name>", text: "name of this resend; running it again with the same name sends nothing twice" },
      why,
    ],
    input,
    run: announce,
  });
};

const announce = async (context: AdminContext, asked: z.output<typeof input>): Promise<Report> => {
  const details = await perform(context, "announce", asked);
  // Under another name a repetition would send again what this run had sent.
  logProgress(`Sending the webhooks again. If it is interrupted, run it again with --name ${details.name}`);
  const queue = deliveryQueue(context.sqs, context.target.environment.DELIVERY_QUEUE_URL);
  const { enqueued } = await enqueueRange(
    { ledger: context.ledger, queue },
    { fromMs: Date.parse(details.from), toMs: Date.parse(details.to), resendId: details.name },
  );
  const text = fields({ ...details, "final transactions": enqueued });
  return {
    json: { ...details, announced: enqueued },
    text: `${text}\n\nWebhooks already sent under this name are not sent again.`,
  };
};
