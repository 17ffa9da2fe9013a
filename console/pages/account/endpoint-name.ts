import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";

type Endpoint = Pick<ActionOutput<"webhook list">["endpoints"][number], "endpoint" | "name" | "down">;

/** The account's endpoints; undefined while they are unknown. */
type Endpoints = readonly Endpoint[] | undefined;

/** What people call an endpoint; a removed one has an id alone. */
export const endpointName = (endpoints: Endpoints, id: string): string => {
  if (endpoints === undefined) return `Endpoint ${id}`;
  return endpoints.find(({ endpoint }) => endpoint === id)?.name ?? `Endpoint ${id}, removed`;
};

export const isDown = (endpoints: Endpoints, id: string): boolean =>
  endpoints?.some(({ endpoint, down }) => endpoint === id && down) ?? false;

/** To which a webhook can be sent again: the account's endpoints, or the given one unless it was removed. */
export const recipientsOf = <Of extends Pick<Endpoint, "endpoint">>(
  endpoints: readonly Of[] | undefined,
  id: string | undefined,
): readonly Of[] => (endpoints ?? []).filter(({ endpoint }) => id === undefined || endpoint === id);
