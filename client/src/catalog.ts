import type { Catalog as CatalogData } from "./contract-types.ts";
import { isRecord } from "./field-names.ts";
import { type CallOptions, send } from "./send.ts";
import type { Settings } from "./settings.ts";

/** The longest that a catalog is used before the service is asked again (docs/interface.md 9.4). */
const FRESH_S_MAX = 3_600;

type Kept = {
  readonly etag: string | null;
  readonly catalog: CatalogData;
  readonly freshUntilMs: number;
  /** The number of the request that it answers. */
  readonly request: number;
};

/** Networks and data plans. */
export class Catalog {
  readonly #settings: Settings;
  #kept: Kept | undefined;
  /** How many were sent. Answers may overtake each other. */
  #requests = 0;
  /** The last request before a refusal: its answer may be from before the change. */
  #expired = 0;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /**
   * The networks and data plans. They are kept for as long as the service says, an hour at most; then the service is
   * asked whether they have changed. `revalidate: true` asks at once.
   */
  async get({ revalidate, ...options }: CallOptions & { readonly revalidate?: boolean } = {}): Promise<CatalogData> {
    const kept =
      this.#kept !== undefined && !revalidate && this.#isFresh(this.#kept) ? this.#kept : await this.#ask(options);
    // A copy, because the caller may change it.
    return structuredClone(kept.catalog);
  }

  /** The price of a plan in the catalog that the app got last. */
  priceOf(planId: number): number | undefined {
    return this.#kept?.catalog.dataPlans.find(({ id }) => id === planId)?.price;
  }

  /** The kept catalog is not fresh any more: a plan or its price was refused. */
  expire(): void {
    this.#expired = this.#requests;
  }

  #isFresh({ request, freshUntilMs }: Kept): boolean {
    return request > this.#expired && performance.now() < freshUntilMs;
  }

  async #ask(options: CallOptions): Promise<Kept> {
    const known = this.#kept;
    // From before the request on, because the answer may take some time.
    const askedMs = performance.now();
    this.#requests += 1;
    const request = this.#requests;
    const answered = await send(
      this.#settings,
      {
        operation: "listCatalog",
        method: "GET",
        path: "/vtu/data",
        ...(known?.etag && { headers: { "if-none-match": known.etag } }),
        read: ({ status, headers, data }): Kept | undefined => {
          const freshUntilMs = askedMs + freshMs(headers);
          // A 304 confirms the tag that was sent, whether it names one or not.
          if (status === 304) return known && { ...known, freshUntilMs, request };
          return isCatalog(data) ? { catalog: data, etag: headers.get("etag"), freshUntilMs, request } : undefined;
        },
      },
      options,
    );
    if (this.#kept === undefined || this.#kept.request < request) this.#kept = answered;
    return this.#kept;
  }
}

const isCatalog = (data: unknown): data is CatalogData =>
  isRecord(data) && Array.isArray(data.networks) && Array.isArray(data.dataPlans);

/** Prices do not change within `max-age`, unless the upstream changes them. */
const freshMs = (headers: Headers): number => {
  const maxAgeS = Number(/max-age=(\d+)/.exec(headers.get("cache-control") ?? "")?.[1] ?? FRESH_S_MAX);
  return Math.min(maxAgeS, FRESH_S_MAX) * 1_000;
};
