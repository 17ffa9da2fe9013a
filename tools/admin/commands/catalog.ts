import type { Command } from "commander";
import * as z from "zod";
import { recordAudited } from "../../../shared/actions/action-context.ts";
import { catalogRuns, NO_CATALOG } from "../../../shared/actions/catalog.ts";
import { fetchCatalog, readCandidate, refreshCatalog } from "../../../shared/catalog/refresh-catalog.ts";
import { catalogChanges, catalogOf } from "../../../shared/catalog/snapshot.ts";
import type { DroppedEntry } from "../../../shared/catalog/usable-catalog.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import { catalogActions } from "../../../shared/contract/actions/catalog.ts";
import type { Catalog, DataPlan } from "../../../shared/contract/catalog.ts";
import { SERVICE } from "../../../shared/ledger/audit.ts";
import { deadlineIn } from "../../../shared/platform/deadline.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { deliveryQueue } from "../../../shared/webhooks/delivery-queue.ts";
import { enqueueCatalogUpdated } from "../../../shared/webhooks/enqueue-catalog-updated.ts";
import { addCommand, addGroup, type Report, why } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { fields, sections, table } from "../views/print.ts";

const changeInput = z.object({ why: whySchema.optional() });
/** The time-out of the function that serves the catalog. */
const FETCH_TIMEOUT_MS = 29_000;

export const addCatalog = (program: Command): void => {
  const group = addGroup(program, "catalog", "Inspect and refresh the catalog of networks and data plans");
  addCommand(group, {
    usage: "show",
    readOnly: true,
    summary: catalogActions["catalog show"].summary,
    example: "show",
    input: z.object({}),
    run: show,
  });
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
  addCommand(group, {
    usage: "accept",
    summary: catalogActions["catalog accept"].summary,
    example: 'accept --why "the upstream sells two networks only, ticket 90"',
    options: [why],
    input: changeInput,
    run: accept,
  });
};

const droppedTable = (dropped: readonly DroppedEntry[]): string =>
  table(
    ["kind", "id", "invalid field"],
    dropped.map(({ kind, id, field }) => [kind, id, field]),
  );

const show = async (context: AdminContext): Promise<Report> => {
  const json = await catalogRuns["catalog show"](context, {});
  const { served, refused } = json;
  if (served === null) return { json, text: "No catalog has been fetched yet. Run doctor to see why." };
  const { fetched_at, age, networks, data_plans, dropped } = served;
  const outline = { fetched_at, age, networks: networks.length, plans: data_plans.length, dropped: dropped.count };
  return {
    json,
    text: sections({
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
        data_plans.map(({ id, network_id, name, price, validity }) => [id, network_id, name, price, validity]),
      ),
      ...(dropped.count > 0 && { "Dropped (invalid, not served)": droppedTable(dropped.first) }),
      ...(refused && { "Refused (catalog accept serves it)": fields(refused) }),
    }),
  };
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

const accept = async (context: AdminContext, input: z.output<typeof changeInput>): Promise<Report> => {
  const json = await catalogRuns["catalog accept"](context, input);
  return { json, text: fields(json) };
};
