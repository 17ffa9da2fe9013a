import type { Command } from "commander";
import * as z from "#zod";
import { recordAudited } from "../../../shared/actions/action-context.ts";
import { NO_CATALOG } from "../../../shared/actions/catalog.ts";
import { catalogChanges } from "../../../shared/catalog/catalog-change.ts";
import { fetchCatalog, refreshCatalog } from "../../../shared/catalog/refresh-catalog.ts";
import { catalogOf } from "../../../shared/catalog/snapshot.ts";
import { whySchema } from "../../../shared/contract/actions/action.ts";
import type { DataPlan, Network } from "../../../shared/contract/catalog.ts";
import { SERVICE } from "../../../shared/ledger/audit.ts";
import { deadlineIn } from "../../../shared/platform/deadline.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { REFRESH_FUNCTION_TIMEOUT_S } from "../../../shared/platform/time-budgets.ts";
import { deliveryQueue } from "../../../shared/webhooks/delivery-queue.ts";
import { enqueueCatalogUpdated } from "../../../shared/webhooks/enqueue-catalog-updated.ts";
import { addCommand, type Report, why } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { perform } from "../perform.ts";
import { droppedTable } from "../views/catalog.ts";
import { type Cell, fields, nairaText, sections, table } from "../views/print.ts";

const changeInput = z.object({ why: z.optional(whySchema) });
/** The time-out of the function that serves the catalog. */
const FETCH_TIMEOUT_MS = 29_000;

export const addCommands = (group: Command): void => {
  addCommand(group, {
    usage: "diff",
    readOnly: true,
    summary: "Compare the served catalog with the refused one and, on this machine, with the upstream's",
    example: "diff",
    input: z.object({}),
    run: diff,
  });
  addCommand(group, {
    usage: "refresh",
    summary: "Fetch the catalog from the upstream now, on this machine only; exit code 1 if it is refused",
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
  const { refused } = await perform(context, "catalog diff", {});
  const upstream = context.target.isLocal ? await diffOfUpstream(context) : undefined;
  return {
    ok: upstream?.ok ?? true,
    json: { upstream: upstream?.json ?? null, refused },
    text: sections({
      ...upstream?.sections,
      "Refused compared with served": refused === null ? "There is no refused catalog." : changesTable(refused),
    }),
  };
};

/** What the upstream has now. A stage cannot be compared so: only its own addresses may call the upstream. */
const diffOfUpstream = async (context: AdminContext) => {
  const served = await context.catalog.read();
  const before = served ? catalogOf(served) : NO_CATALOG;
  const now = await fetchCatalog(context.upstream, deadlineIn(FETCH_TIMEOUT_MS));
  const heading = "Upstream compared with served";
  if (now.kind !== "fetched") return { ok: false, json: { refused: now.reason }, sections: { [heading]: now.reason } };
  const changes = catalogChanges(before, now.catalog);
  return {
    ok: true,
    json: { ...changes, dropped: now.dropped },
    sections: {
      [heading]: changesTable(changes),
      ...(now.dropped.length > 0 && { "Dropped (invalid)": droppedTable(now.dropped) }),
    },
  };
};

const changesTable = (changes: ReturnType<typeof catalogChanges>): string => {
  const { networks_added, networks_removed, added, removed, repriced } = changes;
  const networkCells = (change: string, { id, name, code }: Network): readonly Cell[] => [
    ...[change, "", id, `${name} (${code})`, ""],
  ];
  const cells = (change: string, { id, network_id, name, price }: DataPlan): readonly Cell[] => [
    ...[change, id, network_id, name, nairaText(price)],
  ];
  const rows = [
    ...networks_added.map((network) => networkCells("new network", network)),
    ...networks_removed.map((network) => networkCells("network gone", network)),
    ...added.map((plan) => cells("new", plan)),
    ...removed.map((plan) => cells("gone", plan)),
    ...repriced.map((plan) => [...cells("price", plan), nairaText(plan.previous_price)]),
  ];
  return rows.length === 0 ? "No difference." : table(["change", "id", "network", "name", "price", "old price"], rows);
};

const refresh = async (context: AdminContext, { why }: z.output<typeof changeInput>): Promise<Report> => {
  assertLocal(context);
  await recordAudited(context, SERVICE, { action: "catalog refresh", why });
  const { catalog: store, upstream, ledger } = context;
  const { DELIVERY_QUEUE_URL, UPSTREAM_BASE_URL: baseUrl } = context.target.environment;
  const queue = deliveryQueue(context.sqs, DELIVERY_QUEUE_URL);
  const result = await refreshCatalog(
    { store, upstream, baseUrl, announce: enqueueCatalogUpdated({ ledger, queue }), clock: ledger.clock },
    deadlineIn(REFRESH_FUNCTION_TIMEOUT_S * 1_000),
    "now",
  );
  const ok = result.kind === "replaced";
  const isAcceptable = result.kind === "refused" && (result.reason === "halved" || result.reason === "empty");
  const next = isAcceptable ? "\n\nReview it with catalog diff, serve it with catalog accept." : "";
  return { ok, json: result, text: `${fields(result)}${next}` };
};
