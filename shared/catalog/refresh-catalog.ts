import * as z from "#zod";
import { documentText } from "../call/prepared-document.ts";
import { RESPONSE_BYTES_MAX, responseBytes } from "../call/response-size.ts";
import type { Catalog, DataPlan } from "../contract/catalog.ts";
import { successEnvelope } from "../contract/envelope.ts";
import { HOUR_MS, MINUTE_MS } from "../contract/values/durations.ts";
import { isSameNetwork } from "../contract/values/network-names.ts";
import type { Deadline } from "../platform/deadline.ts";
import { errorFields, type LogFields, log } from "../platform/log.ts";
import { type Clock, EPOCH, isoTime } from "../platform/time.ts";
import { RUN_RESERVE_MS, UPSTREAM_MS_MAX } from "../platform/time-budgets.ts";
import { isTransient } from "../platform/transient-error.ts";
import { bodyJson } from "../upstream/exchange.ts";
import type { LiveUpstream } from "../upstream/live-upstream.ts";
import { NO_UPSTREAM_KEY } from "../upstream/upstream.ts";
import { type CatalogChange, catalogChanges, changeBetween, UNANNOUNCED_MAX } from "./catalog-change.ts";
import type { CatalogStore } from "./catalog-store.ts";
import { catalogOf, type DroppedEntries, SELLABLE_AGE_MS_MAX, type Snapshot, snapshotOf } from "./snapshot.ts";
import { type DroppedEntry, sentCatalog, usableCatalog } from "./usable-catalog.ts";

/** A catalog of this age is fetched again. The schedule checks each minute. */
const REFRESH_AFTER_MS = HOUR_MS;
/** A call that fails once raises no alarm, one that fails for this time does. */
const LASTING_MS = 15 * MINUTE_MS;
/** Changes are announced before it, so that many subscriptions do not take the time in which the catalog is fetched. */
const FETCH_RESERVE_MS = UPSTREAM_MS_MAX + RUN_RESERVE_MS;
/** A catalog with less than this share of the served plans counts as an error of the upstream. */
const SHRINK_LIMIT = 0.5;
/** Leaves room for the other attributes within DynamoDB's limit of 400 KB per item. */
const GZIP_BYTES_MAX = 380_000;

export type RefreshResult =
  | { readonly kind: "fresh_enough" }
  | { readonly kind: "replaced"; readonly plans: number }
  /** The upstream's key was never set: a new stage, or one for test keys only. */
  | { readonly kind: "not_set_up" }
  /** The previous catalog is still served. */
  | { readonly kind: "refused"; readonly reason: "unreachable" | "invalid" | "empty" | "halved" | "too_large" };

export type RefreshDeps = {
  readonly store: CatalogStore;
  readonly upstream: Pick<LiveUpstream, "fetchCatalog">;
  /** Of the upstream: the catalog of another one is not kept until it is due. */
  readonly baseUrl: string;
  /** Enqueues the events of a change, all of them if it resolves with true; may be called again for the same one. */
  readonly announce: (change: CatalogChange, deadline: Deadline) => Promise<boolean>;
  readonly clock: Clock;
};

/**
 * Fetches the upstream's catalog, when it is due or now, and stores the bytes to serve, unless the catalog is refused.
 */
export const refreshCatalog = async (
  deps: RefreshDeps,
  deadline: Deadline,
  when: "due" | "now" = "due",
): Promise<RefreshResult> => {
  const { store, upstream, baseUrl, clock } = deps;
  const announceDeadline = { remainingMs: () => deadline.remainingMs() - FETCH_RESERVE_MS };
  const read = await readServed(store);
  // A run that died after it stored the catalog left these.
  const before = read && { ...(await announceChanges(deps, read, announceDeadline)), catalog: read.catalog };
  // Another upstream may have other bundles under the same ids.
  const isOfUpstream = before?.baseUrl === baseUrl;
  const isFresh = before !== undefined && isOfUpstream && clock() - before.fetchedAtMs < REFRESH_AFTER_MS;
  if (isFresh && when === "due") return { kind: "fresh_enough" };

  const fetched = await fetchCatalog(upstream, deadline);
  // Not an alarm, which would be raised each minute. Once there was a catalog, an absent key is one.
  if (fetched.kind === "refused" && fetched.details.answer === NO_UPSTREAM_KEY && before === undefined) {
    return { kind: "not_set_up" };
  }
  if (fetched.kind === "refused") {
    const isLasting = clock() - (before?.fetchedAtMs ?? 0) > REFRESH_AFTER_MS + LASTING_MS;
    if (!fetched.isTransient || isLasting) return refuse(fetched.reason, fetched.details);
    log.warn("catalog.refresh_delayed", { answer: fetched.details.answer });
    return { kind: "refused", reason: fetched.reason };
  }
  const { catalog } = fetched;
  const plans = catalog.data_plans.length;
  const snapshot = { ...snapshotOf(catalog, clock(), fetched.dropped), baseUrl };
  if (snapshot.gzip.length > GZIP_BYTES_MAX) return refuse("too_large", { bytes: snapshot.gzip.length });
  // A caller without gzip gets it as it is.
  const bytes = responseBytes(documentText(snapshot));
  if (bytes > RESPONSE_BYTES_MAX) return refuse("too_large", { bytes });
  reportDropped(snapshot.dropped, before?.dropped);
  const plansBefore = before?.catalog.data_plans.length;
  const ageBeforeMs = clock() - (before?.fetchedAtMs ?? 0);
  const suspicion = acceptanceReasonOf(plans, plansBefore, ageBeforeMs > SELLABLE_AGE_MS_MAX);
  if (suspicion !== undefined) {
    await store.writeCandidate(snapshot);
    return refuse(suspicion, { plans, plans_before: plansBefore });
  }
  reportRemovedCodes(before?.catalog, catalog);
  const next = withChange(snapshot, before, catalog, clock());
  // An operator has accepted another catalog since: the next run continues from there.
  if (!(await replaceServed(store, before, next))) return { kind: "fresh_enough" };
  log.info("catalog.replaced", { plans, ...changesFor(before?.catalog ?? { networks: [], data_plans: [] }, catalog) });
  await announceChanges(deps, next, announceDeadline);
  return { kind: "replaced", plans };
};

type Served = Snapshot & { readonly catalog: Catalog };

/**
 * The catalog with what it changes for callers. The first one of a stage, or after an unreadable one, changes nothing.
 */
const withChange = (snapshot: Snapshot, before: Served | undefined, catalog: Catalog, nowMs: number): Snapshot => {
  if (before === undefined) return snapshot;
  const change = changeBetween(before.catalog, catalog, isoTime(nowMs));
  const unannounced = [...before.unannounced, ...(change ? [change] : [])];
  const kept = unannounced.slice(-UNANNOUNCED_MAX);
  if (kept.length < unannounced.length) log.alarm("catalog.change_not_announced", { reason: "too_many" });
  return { ...snapshot, unannounced: kept };
};

const replaceServed = (store: CatalogStore, before: Served | undefined, next: Snapshot): Promise<boolean> =>
  before === undefined ? store.write(next) : store.replace(before, next);

/**
 * Announces the changes of a stored catalog and then removes them from it: a crash in between announces them again. A
 * fault does not stop the refresh; the next run tries again. Resolves with the catalog as it is stored then.
 */
const announceChanges = async (
  { store, announce, clock }: RefreshDeps,
  stored: Snapshot,
  deadline: Deadline,
): Promise<Snapshot> => {
  if (stored.unannounced.length === 0) return stored;
  try {
    for (const change of stored.unannounced) {
      if (await announce(change, deadline)) continue;
      log.alarm("catalog.change_not_announced", { reason: "out_of_time" });
      return stored;
    }
    const announced = { ...stored, unannounced: [] };
    return (await store.replace(stored, announced)) ? announced : stored;
  } catch (error) {
    const [{ at } = { at: EPOCH }] = stored.unannounced;
    const isLasting = clock() - Date.parse(at) > LASTING_MS;
    if (isTransient(error) && !isLasting) log.warn("catalog.announcement_delayed", errorFields(error));
    else log.alarm("catalog.change_not_announced", errorFields(error));
    return stored;
  }
};

/**
 * Why a readable catalog needs an operator's acceptance. After an empty one was accepted, empty ones are not
 * suspicious. Once the one before is too old to sell from, half of it is better than none.
 */
const acceptanceReasonOf = (
  plans: number,
  plansBefore: number | undefined,
  isTooOld: boolean,
): "empty" | "halved" | undefined => {
  if (plans === 0) return plansBefore === 0 ? undefined : "empty";
  return !isTooOld && plansBefore !== undefined && plans < plansBefore * SHRINK_LIMIT ? "halved" : undefined;
};

/** Raises an alarm if other entries are dropped than before, and logs a warning if they are the same. */
const reportDropped = (dropped: DroppedEntries, before: DroppedEntries | undefined): void => {
  if (dropped.count === 0) return;
  const isKnown = JSON.stringify(dropped) === JSON.stringify(before);
  const fields = { dropped: listed(dropped.count, dropped.first.map(entryText)) };
  if (isKnown) log.warn("catalog.entries_still_dropped", fields);
  else log.alarm("catalog.entries_dropped", fields);
};
const entryText = ({ kind, id, field }: DroppedEntry): string => `${kind} ${id} (${field})`;

/** What is switched off, and what has another price or cost, names a network by its code, which an upstream may change. */
const reportRemovedCodes = (before: Catalog | undefined, after: Catalog): void => {
  const isLeft = (code: string) => after.networks.some((network) => isSameNetwork(code, network.code));
  const removed = before?.networks.map(({ code }) => code).filter((code) => !isLeft(code)) ?? [];
  if (removed.length > 0) log.alarm("catalog.network_codes_removed", { networks: listed(removed.length, removed) });
};

type Details = Omit<LogFields<"catalog.refresh_failed">, "reason">;
export type FetchedCatalog =
  /** May have no plans. */
  | { readonly kind: "fetched"; readonly catalog: Catalog; readonly dropped: readonly DroppedEntry[] }
  | {
      readonly kind: "refused";
      readonly reason: "unreachable" | "invalid";
      readonly details: Details;
      /** The next fetch may succeed: no answer came, or the upstream is busy or broken. */
      readonly isTransient: boolean;
    };

/** Fetches the usable part of the upstream's catalog. A catalog without a usable entry is invalid. */
export const fetchCatalog = async (upstream: RefreshDeps["upstream"], deadline: Deadline): Promise<FetchedCatalog> => {
  const unreachable = (answer: string, isTransient: boolean) =>
    ({ kind: "refused", reason: "unreachable", details: { answer }, isTransient }) as const;
  const invalid = (details: Details) => ({ kind: "refused", reason: "invalid", details, isTransient: false }) as const;
  const result = await upstream.fetchCatalog(deadline);
  if (result.kind !== "answered") return unreachable(result.reason, result.reason !== NO_UPSTREAM_KEY);
  const { status } = result;
  if (status !== 200) return unreachable(`status_${status}`, status === 429 || status >= 500);
  const parsed = sentEnvelope.safeParse(bodyJson(result.body));
  if (!parsed.success) return invalid({ at: parsed.error.issues[0]?.path.join(".") });
  const { catalog, dropped } = usableCatalog(parsed.data.data);
  if (catalog.data_plans.length === 0 && dropped.length > 0) {
    return invalid({ dropped: listed(dropped.length, dropped.map(entryText)) });
  }
  return { kind: "fetched", catalog, dropped };
};
/** Nothing needs the message, which an upstream may leave out. */
const sentEnvelope = z.partial(successEnvelope(sentCatalog), { message: true });

/** The refused catalog, if it is newer than the one that is served. */
export const readCandidate = async (store: CatalogStore): Promise<Snapshot | undefined> => {
  const [served, candidate] = await Promise.all([store.read(), store.readCandidate()]);
  return candidate && candidate.fetchedAtMs > (served?.fetchedAtMs ?? 0) ? candidate : undefined;
};

/**
 * Serves the refused catalog that was fetched at `fetchedAtMs`, if it is not served already; undefined if another one is
 * refused or served since. The next refresh announces what it changes.
 */
export const acceptCandidate = async (
  store: CatalogStore,
  clock: Clock,
  fetchedAtMs: number,
): Promise<Catalog | undefined> => {
  for (;;) {
    const candidate = await readCandidate(store);
    if (candidate?.fetchedAtMs !== fetchedAtMs) {
      // The write may have been carried out without an answer, and refused when it was sent again.
      const served = await store.read();
      return served?.fetchedAtMs === fetchedAtMs ? catalogOf(served) : undefined;
    }
    const before = await readServed(store);
    const catalog = catalogOf(candidate);
    reportRemovedCodes(before?.catalog, catalog);
    // If a refresh stores another catalog first, the candidate may be too old.
    if (await replaceServed(store, before, withChange(candidate, before, catalog, clock()))) return catalog;
  }
};

/**
 * The catalog that is served; undefined if there is none that this version can read, so it is replaced. A call that
 * fails is thrown: without the catalog before, a change would be neither noticed nor announced.
 */
const readServed = async (store: CatalogStore): Promise<Served | undefined> => {
  const unreadable = (error: unknown): undefined => {
    log.error("catalog.unreadable", errorFields(error));
  };
  const snapshot = await store.read().catch((error: unknown) => {
    if (error instanceof z.$ZodError) return unreadable(error);
    throw error;
  });
  try {
    return snapshot && { ...snapshot, catalog: catalogOf(snapshot) };
  } catch (error) {
    return unreadable(error);
  }
};

const refuse = (reason: Extract<RefreshResult, { kind: "refused" }>["reason"], details: Details): RefreshResult => {
  log.alarm("catalog.refresh_failed", { reason, ...details });
  return { kind: "refused", reason };
};

const changesFor = (before: Catalog, after: Catalog) => {
  const { added, removed, repriced } = catalogChanges(before, after);
  return { added: planIds(added), removed: planIds(removed), repriced: planIds(repriced) };
};

const LISTED_MAX = 10;
const planIds = (plans: readonly DataPlan[]): string =>
  listed(
    plans.length,
    plans.map(({ id }) => String(id)),
  );

/** `3: 101 102 103`, bounded for a log line. */
const listed = (count: number, first: readonly string[]): string =>
  [`${count}:`, ...first.slice(0, LISTED_MAX), ...(count > LISTED_MAX ? ["..."] : [])].join(" ");
