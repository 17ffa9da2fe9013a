import type { Command } from "commander";
import * as z from "zod";
import { recordAudited } from "../../../shared/actions/action-context.ts";
import { ANNOUNCE } from "../../../shared/actions/transaction-history.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import { SERVICE } from "../../../shared/ledger/audit.ts";
import { timeRange } from "../../../shared/ledger/list-transactions.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { deliveryQueue } from "../../../shared/webhooks/delivery-queue.ts";
import { addCommand, type Report, why } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { enqueueRange } from "../enqueue-range.ts";
import { END_TIME, timeField } from "../fields.ts";
import { fields } from "../views/print.ts";

const input = z.object({
  from: timeField,
  to: timeField.optional(),
  name: z
    .string()
    .regex(/^[\w.:-]{1,80}$/, "Must be 1 to 80 of the characters A-Z a-z 0-9 . _ : -")
    .optional(),
  why: whySchema.optional(),
});

export const addAnnounce = (program: Command): void => {
  addCommand(program, {
    usage: "announce",
    summary:
      "Resend the webhooks of all transactions that became final in a period, to all accounts; use after an outage",
    example: "announce --from 2026-11-21T09:00:00Z --to 2026-11-21T10:00:00Z",
    options: [
      { flags: "--from <time>", text: "start of the period, a date or a time", required: true },
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

const announce = async (context: AdminContext, { from, to, name, why }: z.output<typeof input>): Promise<Report> => {
  const nowMs = context.ledger.clock();
  const range = timeRange({ from, to: to ?? isoTime(nowMs) }, context.timeZone);
  if (range === undefined) throw new OperatorError("--to must not be before --from");
  const resendId = name ?? `announce-${isoTime(nowMs)}`;
  const details = { from: range.from, to: range.to, name: resendId };
  await recordAudited(context, SERVICE, { about: ANNOUNCE, action: "announce", why, details });
  const queue = deliveryQueue(context.sqs, context.target.environment.DELIVERY_QUEUE_URL);
  const { enqueued } = await enqueueRange(
    { ledger: context.ledger, queue },
    { fromMs: Date.parse(range.from), toMs: Date.parse(range.to), resendId },
  );
  const text = fields({ ...details, "final transactions": enqueued });
  return {
    json: { ...details, announced: enqueued },
    text: `${text}\n\nWebhooks already sent under this name are not sent again.`,
  };
};
