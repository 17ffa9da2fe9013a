import type { Command } from "commander";
import * as z from "#zod";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import { endpointField, endpointName, webhookEventsInput } from "../../../shared/contract/actions/webhook.ts";
import { requireEndpoint } from "../../../shared/webhooks/endpoint.ts";
import { addCommand, why } from "../command.ts";
import { listField } from "../fields.ts";
import { perform } from "../perform.ts";
import { metaOf } from "../schemas.ts";
import { fields } from "../views/print.ts";

export const addCommands = (group: Command): void => {
  addCommand(group, {
    usage: "set <account> <url>",
    summary: "Set the endpoint URL, enable it, and show its signing secret; add the endpoint if there is none",
    example: "set acc_0123456789abcdef01 https://app.example.com/webhooks",
    options: [
      { flags: "--endpoint <id>", text: metaOf(endpointField).description ?? "" },
      { flags: "--name <name>", text: `${metaOf(endpointName).description}; default: as it is` },
      { flags: "--events <events>", text: `${metaOf(webhookEventsInput).description}; default: as they are` },
      why,
    ],
    input: z.object({
      account: z.string(),
      url: z.string(),
      endpoint: endpointField,
      name: z.optional(endpointName),
      events: z.optional(z.pipe(listField, webhookEventsInput)),
      why: z.optional(whySchema),
    }),
    run: async (context, input) => {
      const { webhook_secret, events, ...set } = await perform(context, "webhook set", input);
      const secret =
        webhook_secret ?? (await requireEndpoint(context.endpoints, input.account, set.endpoint)).secrets[0];
      const json = { ...set, webhook_secret: secret, events };
      return { json, text: fields({ ...json, events: json.events.join(", ") }) };
    },
  });
};
