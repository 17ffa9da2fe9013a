import type { Command } from "commander";
import * as z from "zod";
import { SERVICE } from "../../../shared/ledger/audit.ts";
import { timeRange } from "../../../shared/ledger/list-transactions.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { deliveryQueue } from "../../../shared/webhooks/delivery-queue.ts";
import { enqueueRange } from "../../../shared/webhooks/enqueue-range.ts";
import { addCommand, type Report, why } from "../command.ts";
import { type AdminContext, recordAudited } from "../context.ts";
import { momentField, whyField } from "../fields.ts";
import { fields } from "../print.ts";

const input = z.object({
  from: momentField,
  to: momentField.optional(),
  name: z
    .string()
    .regex(/^[\w.:-]{1,80}$/, "Must be 1 to 80 of the characters A-Z a-z 0-9 . _ : -")
    .optional(),
  why: whyField.optional(),
});

export const addAnnounce = (program: Command): void => {
  addCommand(program, {
    usage: "announce",
    summary:
      "tell every account again what ended within a time, from the ledger: after an outage of stream, queue or receiver",
    example: "announce --from 2026-11-21T09:00:00Z --to 2026-11-21T10:00:00Z",
    options: [
      { flags: "--from <time>", text: "a date or a time", required: true },
      { flags: "--to <time>", text: "a date (that whole day, UTC) or a time; default: now" },
      { flags: "--name <name>", text: "a name for this; the same name again tells only what it has not told yet" },
      why,
    ],
    input,
    run: announce,
  });
};

const SENT_ONCE = "Those that this name announced already are not sent again.";

const announce = async (desk: AdminContext, { from, to, name, why }: z.output<typeof input>): Promise<Report> => {
  const nowMs = desk.ledger.clock();
  const range = timeRange({ from, to: to ?? isoTime(nowMs) });
  if (range === undefined) throw new OperatorError("--to must not be before --from");
  const repeat = name ?? `announce-${isoTime(nowMs)}`;
  const details = { from: range.from, to: range.to, name: repeat };
  await recordAudited(desk, SERVICE, { action: "announce", why, details });
  const queue = deliveryQueue(desk.sqs, desk.target.environment.DELIVERY_QUEUE_URL);
  const { announced } = await enqueueRange(
    { ledger: desk.ledger, accounts: desk.accounts, queue },
    { fromMs: Date.parse(range.from), toMs: Date.parse(range.to), repeat },
  );
  const text = fields({ ...details, "ends found": announced });
  return { json: { ...details, announced }, text: `${text}\n\n${SENT_ONCE}` };
};
