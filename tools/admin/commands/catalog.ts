import type { Command } from "commander";
import * as z from "zod";
import {
  acceptCandidate,
  fetchCatalog,
  readCandidate,
  refreshCatalog,
} from "../../../shared/catalog/refresh-catalog.ts";
import { catalogChanges, catalogOf, type Snapshot } from "../../../shared/catalog/snapshot.ts";
import type { DroppedEntry } from "../../../shared/catalog/usable-catalog.ts";
import type { Catalog, DataPlan } from "../../../shared/contract/catalog.ts";
import { SERVICE } from "../../../shared/ledger/audit.ts";
import { deadlineIn } from "../../../shared/platform/deadline.ts";
import { OperatorError } from "../../../shared/platform/operator-error.ts";
import { isoTime } from "../../../shared/platform/time.ts";
import { addCommand, addGroup, type Report, why } from "../command.ts";
import { type AdminContext, recordAudited } from "../context.ts";
import { whyField } from "../fields.ts";
import { duration, fields, sections, table } from "../views/print.ts";

const change = z.object({ why: whyField.optional() });
/** The catalog's function has as long. */
const PATIENCE_MS = 29_000;

export const addCatalog = (program: Command): void => {
  const group = addGroup(program, "catalog", "Networks and data plans, as they are served");
  addCommand(group, {
    usage: "show",
    readOnly: true,
    summary: "what is served, since when, what of the upstream's catalog is not, and whether a refused catalog waits",
    example: "show",
    input: z.object({}),
    run: show,
  });
  addCommand(group, {
    usage: "diff",
    readOnly: true,
    summary: "what the upstream has now, against what is served, and the refused catalog against it",
    example: "diff",
    input: z.object({}),
    run: diff,
  });
  addCommand(group, {
    usage: "refresh",
    summary: "fetch the upstream's catalog now; exit code 1 if it is refused",
    example: "refresh",
    options: [why],
    input: change,
    run: refresh,
  });
  addCommand(group, {
    usage: "accept",
    summary: "serve the catalog that was refused because it has no plans, or less than half of those before",
    example: 'accept --why "the upstream sells two networks only, ticket 90"',
    options: [why],
    input: change,
    run: accept,
  });
};

const outline = (snapshot: Snapshot, nowMs: number) => {
  const { networks, data_plans } = catalogOf(snapshot);
  return {
    fetched_at: isoTime(snapshot.fetchedAtMs),
    age: duration(nowMs - snapshot.fetchedAtMs),
    networks: networks.length,
    plans: data_plans.length,
    dropped: snapshot.dropped.count,
  };
};

const droppedTable = (dropped: readonly DroppedEntry[]): string =>
  table(
    ["what", "id", "field that is wrong"],
    dropped.map(({ kind, id, field }) => [kind, id, field]),
  );

const show = async (context: AdminContext): Promise<Report> => {
  const [served, candidate] = await Promise.all([context.catalog.read(), readCandidate(context.catalog)]);
  if (served === undefined) {
    return { json: { served: null, refused: null }, text: "No catalog was fetched yet: doctor says why." };
  }
  const nowMs = context.ledger.clock();
  const { networks, data_plans } = catalogOf(served);
  const refused = candidate && outline(candidate, nowMs);
  return {
    json: {
      served: { ...outline(served, nowMs), etag: served.etag, networks, data_plans, dropped: served.dropped },
      refused: refused ?? null,
    },
    text: sections({
      Served: fields(outline(served, nowMs)),
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
      ...(served.dropped.count > 0 && { "Sent by the upstream, and not served": droppedTable(served.dropped.first) }),
      ...(refused && { "Refused, and waiting for catalog accept": fields(refused) }),
    }),
  };
};

const assertLocal = ({ target }: AdminContext): void => {
  if (target.isLocal) return;
  const itself = "it asks by itself each hour, and each minute while it is refused";
  throw new OperatorError(
    `Stage ${target.name} asks the upstream from its own addresses, and not from here: ${itself}`,
  );
};

const diff = async (context: AdminContext): Promise<Report> => {
  assertLocal(context);
  const served = await context.catalog.read();
  const before = served ? catalogOf(served) : { networks: [], data_plans: [] };
  const now = await fetchCatalog(context.upstream, deadlineIn(PATIENCE_MS));
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
      "Upstream, against what is served": isFetched ? changesText(before, now.catalog) : now.reason,
      ...(isFetched && now.dropped.length > 0 && { "Sent by the upstream, and unusable": droppedTable(now.dropped) }),
      ...(refused && { "Refused catalog, against what is served": changesText(before, refused) }),
    }),
  };
};

const changesText = (before: Catalog, after: Catalog): string => {
  const { added, removed, repriced } = catalogChanges(before, after);
  const prices = new Map(before.data_plans.map(({ id, price }) => [id, price]));
  const row = (what: string, { id, network_id, name, price }: DataPlan) => [what, id, network_id, name, price];
  const rows = [
    ...added.map((plan) => [...row("new", plan), null]),
    ...removed.map((plan) => [...row("gone", plan), null]),
    ...repriced.map((plan) => [...row("price", plan), prices.get(plan.id)]),
  ];
  return rows.length === 0 ? "No difference." : table(["what", "id", "network", "name", "price", "price before"], rows);
};

const refresh = async (context: AdminContext, { why }: z.output<typeof change>): Promise<Report> => {
  assertLocal(context);
  await recordAudited(context, SERVICE, { action: "catalog refresh", why });
  const { catalog: store, upstream } = context;
  const result = await refreshCatalog({ store, upstream, clock: context.ledger.clock }, deadlineIn(PATIENCE_MS), "now");
  const ok = result.kind === "replaced";
  const isAcceptable = result.kind === "refused" && (result.reason === "halved" || result.reason === "empty");
  const next = isAcceptable ? ": catalog diff shows it, catalog accept serves it" : "";
  return { ok, json: result, text: `${fields(result)}${next}` };
};

const accept = async (context: AdminContext, { why }: z.output<typeof change>): Promise<Report> => {
  if ((await readCandidate(context.catalog)) === undefined) throw nothingToAccept();
  await recordAudited(context, SERVICE, { action: "catalog accept", why });
  const accepted = await acceptCandidate(context.catalog);
  if (accepted === undefined) throw nothingToAccept();
  const json = { kind: "accepted", plans: accepted.data_plans.length };
  return { json, text: fields(json) };
};

/** What was not received, cannot be read, or does not fit into one item of the table cannot be served by anybody's decision. */
const nothingToAccept = (): OperatorError =>
  new OperatorError(
    "No refused catalog waits to be accepted: only one that is empty or halved does; one that is unreachable, invalid or too_large cannot be served",
  );
