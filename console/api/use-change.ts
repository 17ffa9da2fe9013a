import { type QueryClient, type UseMutationResult, useMutation, useQueryClient } from "@tanstack/react-query";
import * as z from "#zod";
import type { ActionName, ActionOutput, actions } from "../../shared/contract/actions/actions.ts";
import { ActionError } from "./action-error.ts";
import { callAction, type SentInput } from "./call-action.ts";

/** Actions that change something. */
export type ChangeName = {
  [Name in ActionName]: (typeof actions)[Name]["kind"] extends "change" ? Name : never;
}[ActionName];

const ofAccount = z.object({ account: z.string() });
const accountOf = (input: unknown): string | undefined => ofAccount.safeParse(input).data?.account;

/** Reads again what the change may have changed: all of its account, and what concerns no single account. */
const refetch = (client: QueryClient, input: unknown): Promise<void> => {
  const changed = accountOf(input);
  return client.invalidateQueries({
    predicate: ({ queryKey }) => {
      const read = accountOf(queryKey[1]);
      return changed === undefined || read === undefined || read === changed;
    },
  });
};

/** Sends a change: `await useChange("keys create").mutateAsync(input)`. What it changed is read again. */
export const useChange = <Name extends ChangeName>(
  name: Name,
): UseMutationResult<ActionOutput<Name>, Error, SentInput<Name>> => {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: SentInput<Name>) => callAction(name, input),
    onSuccess: (_, input) => void refetch(client, input),
    onError: (error, input) => {
      // It may have been made, or another person's change is why it was refused.
      const isRefused = error instanceof ActionError && (error.details.status === 422 || error.details.status === 401);
      if (!isRefused) void refetch(client, input);
    },
  });
};
