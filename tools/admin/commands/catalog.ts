import type { Command } from "commander";
import * as z from "#zod";
import { recordAudited } from "../../../shared/actions/action-context.ts";
import { NO_CATALOG } from "../../../shared/actions/catalog.ts";
import { catalogChanges } from "../../../shared/catalog/catalog-change.ts";
import { fetchCatalog, readCandidate, refreshCatalog } from "../../../shared/catalog/refresh-catalog.ts";
import { catalogOf } from "../../../shared/catalog/snapshot.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import type { Catalog, DataPlan } from "../../../shared/contract/catalog.ts";
import { SERVICE } from "../../../shared/ledger/audit.ts";
import { deadlineIn } from "../../../shared/platform/deadline.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { deliveryQueue } from "../../../shared/webhooks/delivery-queue.ts";
import { enqueueCatalogUpdated } from "../../../shared/webhooks/enqueue-catalog-updated.ts";
import { addCommand, type Report, why } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { droppedTable } from "../views/catalog.ts";
import { fields, sections, table } from "../views/print.ts";

const changeInput = z.object({ why: z.optional(whySchema) });
/** The time-out of the function that serves the catalog. */
const FETCH_TIMEOUT_MS = 29_000;

export const addCatalogCommands = (group: Command): void => {
  addCommand(group, {
    usage: "diff",
    readOnly: true,
    summary: "Compare the served catalog with the upstream's and with the refused one",
    example: "diff",
    input: z.object({}),
    run: diff,
  });
  addCommand(group, {
    usage: "refresh",
    summary: "Fetch the catalog from the upstream now; exit code 1 if it is refused",
    example: "refresh",
    options: [why],
    input: changeInput,
    run: refresh,
  });
};

const assertLocal = ({ target }: AdminContext): void => {
  if (target.isLocal) return;
  throw new OperatorError(
    `Stage ${target.name} calls the upstream from its own addresses only. ` +
      "It refreshes its catalog each hour, and each minute while refreshes fail",
  );
};

const diff = async (context: AdminContext): Promise<Report> => {
  assertLocal(context);
  const served = await context.catalog.read();
  const before = served ? catalogOf(served) : NO_CATALOG;
  const now = await fetchCatalog(context.upstream, deadlineIn(FETCH_TIMEOUT_MS));
  const candidate = await readCandidate(context.catalog);
  const refused = candidate && catalogOf(candidate);
  const isFetched = now.kind === "fetched";
  const upstream = isFetched
    ? { ...catalogChanges(before, now.catalog), dropped: now.dropped }
    : { refused: now.reason };
  return {
    ok: isFetched,
    json: { upstream, refused: refused ? catalogChanges(before, refused) : null },
    text: sections({
      "Upstream compared with served": isFetched ? changesText(before, now.catalog) : now.reason,
      ...(isFetched && now.dropped.length > 0 && { "Dropped (invalid)": droppedTable(now.dropped) }),
      ...(refused && { "Refused compared with served": changesText(before, refused) }),
    }),
  };
};

const changesText = (before: Catalog, after: Catalog): string => {
  const { added, removed, repriced } = catalogChanges(before, after);
  const prices = new Map(before.data_plans.map(({ id, price }) => [id, price]));
  const cells = (change: string, { id, network_id, name, price }: DataPlan) => [change, id, network_id, name, price];
  const rows = [
    ...added.map((plan) => [...cells("new", plan), null]),
    ...removed.map((plan) => [...cells("gone", plan), null]),
    ...repriced.map((plan) => [...cells("price", plan), prices.get(plan.id)]),
  ];
  return rows.length === 0 ? "No difference." : table(["change", "id", "network", "name", "price", "old price"], rows);
};

const refresh = async (context: AdminContext, { why }: z.output<typeof changeInput>): Promise<Report> => {
  assertLocal(context);
  await recordAudited(context, SERVICE, { action: "catalog refresh", why });
  const { catalog: store, upstream, ledger } = context;
  const queue = deliveryQueue(context.sqs, context.target.environment.DELIVERY_QUEUE_URL);
  const result = await refreshCatalog(
    { store, upstream, announce: enqueueCatalogUpdated({ ledger, queue }), clock: ledger.clock },
    deadlineIn(FETCH_TIMEOUT_MS),
    "now",
  );
  const ok = result.kind === "replaced";
  const isAcceptable = result.kind === "refused" && (result.reason === "halved" || result.reason === "empty");
  const next = isAcceptable ? "\n\nReview it with catalog diff, serve it with catalog accept." : "";
  return { ok, json: result, text: `${fields(result)}${next}` };
};
