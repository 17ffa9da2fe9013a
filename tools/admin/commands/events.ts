import type { Command } from "commander";
import * as z from "zod";
import { upstreamEventsRuns } from "../../../shared/actions/upstream-events.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import { upstreamEventsActions } from "../../../shared/contract/actions/upstream-events.ts";
import { addCommand, addGroup, type Report, whyRequired } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { afterFlight } from "../in-flight.ts";
import { fields, naira, table } from "../views/print.ts";

const listInput = z.object({
  state: z.enum(["open", "matched", "discarded", "all"], "Must be open, matched, discarded or all"),
});

const matchInput = z.object({
  event: z.string(),
  reference: z.string(),
  why: whySchema,
  althoughDifferent: z.boolean().default(false),
});

export const addEvents = (program: Command): void => {
  const group = addGroup(program, "events", "Resolve upstream events that could not be applied automatically");
  addCommand(group, {
    usage: "list",
    readOnly: true,
    summary: upstreamEventsActions["events list"].summary,
    example: "list",
    options: [{ flags: "--state <state>", text: "open, matched, discarded or all", fallback: "open" }],
    input: listInput,
    run: list,
  });
  addCommand(group, {
    usage: "match <event> <reference>",
    summary: upstreamEventsActions["events match"].summary,
    example: 'match event_mZ0 DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ --why "same number and minute, ticket 88"',
    options: [
      whyRequired,
      { flags: "--although-different", text: "match even if type, amount or phone number differ" },
    ],
    input: matchInput,
    run: match,
  });
  addCommand(group, {
    usage: "discard <event>",
    summary: upstreamEventsActions["events discard"].summary,
    example: 'discard event_mZ0 --why "the upstream tested, ticket 89"',
    options: [whyRequired],
    input: z.object({ event: z.string(), why: whySchema }),
    run: async (context, input) => {
      const json = await upstreamEventsRuns["events discard"](context, input);
      return { json, text: fields(json) };
    },
  });
};

const match = async (
  context: AdminContext,
  { althoughDifferent: accepts_differences, ...input }: z.output<typeof matchInput>,
): Promise<Report> => {
  const json = await afterFlight(input.reference, () =>
    upstreamEventsRuns["events match"](context, { ...input, accepts_differences }),
  );
  const list = json.differences.map(
    ({ field, event, transaction }) => `${field} (event ${event}, transaction ${transaction})`,
  );
  return { json, text: fields({ ...json, differences: list.join(", ") || "none" }) };
};

const list = async (context: AdminContext, input: z.output<typeof listInput>): Promise<Report> => {
  const json = await upstreamEventsRuns["events list"](context, input);
  return {
    json,
    text: table(
      ["event", "at", "reason", "upstream reference", "reports", "type", "amount", "phone number", "transaction"],
      json.events.map((view) => [
        view.event,
        view.at,
        view.state === "open" ? view.reason : view.state,
        view.upstream_reference,
        view.says,
        view.type,
        view.amount === null ? null : naira(view.amount * 100),
        view.phone_number,
        view.transaction,
      ]),
    ),
  };
};
