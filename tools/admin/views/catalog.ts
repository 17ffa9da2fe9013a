import type { DroppedEntry } from "../../../shared/catalog/usable-catalog.ts";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { fields, nairaText, sections, table } from "./print.ts";

export const droppedTable = (dropped: readonly DroppedEntry[]): string =>
  table(
    ["kind", "id", "invalid field"],
    dropped.map(({ kind, id, field }) => [kind, id, field]),
  );

export const catalogText = ({ served, refused }: ActionOutput<"catalog show">): string => {
  const refusedOne = refused && { "Refused (catalog accept serves it)": fields(refused) };
  if (served === null) {
    return sections({ Served: "No catalog is served yet. Run doctor to see why.", ...refusedOne });
  }
  const { fetched_at, age, networks, data_plans, dropped } = served;
  const outline = { fetched_at, age, networks: networks.length, plans: data_plans.length, dropped: dropped.count };
  return sections({
    Served: fields(outline),
    Networks: table(
      ["id", "code", "name", "plans"],
      networks.map(({ id, code, name }) => [
        id,
        code,
        name,
        data_plans.filter(({ network_id }) => network_id === id).length,
      ]),
    ),
    Plans: table(
      ["id", "network", "name", "price", "validity"],
      data_plans.map(({ id, network_id, name, price, validity }) => [id, network_id, name, nairaText(price), validity]),
    ),
    ...(dropped.count > 0 && { "Dropped (invalid, not served)": droppedTable(dropped.first) }),
    ...refusedOne,
  });
};
