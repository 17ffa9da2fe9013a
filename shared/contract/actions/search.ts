import * as z from "#zod";
import { roles } from "../roles.ts";
import { modeSchema } from "../transaction.ts";
import { accountView, keyViewSchema } from "./accounts.ts";
import { type ActionTable, printableText } from "./action.ts";
import { deliveryState } from "./deliveries.ts";
import { listedTransaction } from "./transactions.ts";
import { eventState } from "./upstream-events.ts";

/** The most that is found of one kind. */
export const FOUND_MAX = 50;

const searchText = printableText.check(
  z.minLength(3),
  z.maxLength(100),
  // Texts that are searched for are recorded.
  z.refine((text) => !/(?:live|test)_[\w-]{30}/.test(text), "Must be no API key: search for its id, such as key_0123"),
);

/** What was found belongs to an account, whose name says more than its id. */
const named = { account_id: z.string(), account_name: z.string() };

/** One search over everything that the person may see. */
export const searchActions = {
  search: {
    scope: "member",
    roles,
    kind: "read",
    inBody: true,
    personal: true,
    input: z.object({ text: searchText }),
    /** At most 50 of each kind. */
    output: z.object({
      /** Newest first. */
      transactions: z.array(z.extend(listedTransaction, named)),
      accounts: z.array(accountView),
      /** The credit of a bank transfer, by the bank's reference. */
      fundings: z.array(
        z.object({ ...named, id: z.string(), amount: z.number(), at: z.iso.datetime(), is_reversed: z.boolean() }),
      ),
      keys: z.array(z.extend(keyViewSchema, { ...named, mode: modeSchema })),
      /** Events of the upstream. */
      events: z.array(z.object({ event: z.string(), state: eventState, at: z.iso.datetime() })),
      /** Deliveries of one webhook id. */
      deliveries: z.array(
        z.object({
          ...named,
          webhook_id: z.string(),
          event: z.string(),
          state: deliveryState,
          created_at: z.iso.datetime(),
        }),
      ),
    }),
    summary:
      "Find orders by phone number or reference, a funding by the bank's reference, accounts by name or id, keys, events and deliveries by the start of their id",
    command: "none",
  },
} as const satisfies ActionTable;
