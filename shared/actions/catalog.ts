import { catalogChanges } from "../catalog/catalog-change.ts";
import { acceptCandidate, readCandidate } from "../catalog/refresh-catalog.ts";
import { catalogOf, type Snapshot } from "../catalog/snapshot.ts";
import type { catalogActions } from "../contract/actions/catalog.ts";
import type { Catalog } from "../contract/catalog.ts";
import { duration } from "../contract/values/durations.ts";
import { SERVICE } from "../ledger/audit.ts";
import { OperatorError } from "../platform/operator-error.ts";
import { isoTime } from "../platform/time.ts";
import { recordAudited } from "./action-context.ts";
import type { ActionRuns } from "./action-runs.ts";

export const NO_CATALOG: Catalog = { networks: [], data_plans: [] };

const catalogOutline = (snapshot: Snapshot, nowMs: number) => {
  const { networks, data_plans } = catalogOf(snapshot);
  return {
    fetched_at: isoTime(snapshot.fetchedAtMs),
    age: duration(nowMs - snapshot.fetchedAtMs),
    networks: networks.length,
    plans: data_plans.length,
    dropped: snapshot.dropped.count,
  };
};

export const catalogRuns: ActionRuns<typeof catalogActions> = {
  "catalog show": async ({ catalog, ledger }) => {
    const [served, candidate] = await Promise.all([catalog.read(), readCandidate(catalog)]);
    const nowMs = ledger.clock();
    const refused = candidate ? catalogOutline(candidate, nowMs) : null;
    if (served === undefined) return { served: null, refused };
    const { networks, data_plans } = catalogOf(served);
    const { count, first } = served.dropped;
    return {
      served: {
        ...catalogOutline(served, nowMs),
        etag: served.etag,
        networks,
        data_plans,
        dropped: { count, first: [...first] },
      },
      refused,
    };
  },

  "catalog diff": async ({ catalog, ledger }) => {
    const [served, candidate] = await Promise.all([catalog.read(), readCandidate(catalog)]);
    if (candidate === undefined) return { refused: null };
    const before = served ? catalogOf(served) : NO_CATALOG;
    const changes = catalogChanges(before, catalogOf(candidate));
    return { refused: { ...catalogOutline(candidate, ledger.clock()), ...changes } };
  },

  "catalog accept": async (context, { fetched_at: reviewed, why }) => {
    const { catalog, ledger } = context;
    const [served, candidate] = await Promise.all([catalog.read(), readCandidate(catalog)]);
    const fetchedAtMs = reviewed === undefined ? candidate?.fetchedAtMs : Date.parse(reviewed);
    // Who lost the answer may repeat the request.
    if (served !== undefined && served.fetchedAtMs === fetchedAtMs) return acceptedView(catalogOf(served));
    if (candidate === undefined) throw nothingToAccept();
    if (candidate.fetchedAtMs !== fetchedAtMs) throw anotherCandidate();
    await recordAudited(context, SERVICE, { action: "catalog accept", why });
    const accepted = await acceptCandidate(catalog, ledger.clock, fetchedAtMs);
    if (accepted === undefined) throw anotherCandidate();
    return acceptedView(accepted);
  },
};

const acceptedView = ({ data_plans }: Catalog) => ({ kind: "accepted", plans: data_plans.length }) as const;

/** A catalog that was not received, is invalid, or exceeds the item size of DynamoDB cannot be served at all. */
const nothingToAccept = (): OperatorError =>
  new OperatorError(
    "There is no refused catalog to accept. " +
      "Only an empty or halved one can be accepted, not an unreachable, invalid or too_large one",
  );

const anotherCandidate = (): OperatorError =>
  new OperatorError("The refused catalog is no longer the one that was reviewed. Review it again");
