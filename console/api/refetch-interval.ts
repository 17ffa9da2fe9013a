import { ActionError, isLasting } from "./action-error.ts";

type Read<Data> = { readonly state: { readonly data: Data | undefined; readonly error: Error | null } };

/**
 * How soon a read is repeated by itself: while what was read last is `followed`, and not after it was refused or the sign-in
 * has ended, when each request would be refused all night.
 */
export const refetchInterval =
  <Data>(everyMs: number, followed: (data: Data) => boolean = () => true) =>
  ({ state: { data, error } }: Read<Data>): number | false => {
    if (isLasting(error) || (error instanceof ActionError && error.details.status === 401)) return false;
    return data === undefined || followed(data) ? everyMs : false;
  };
