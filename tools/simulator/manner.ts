import type { JsonResponse } from "./http.ts";

/**
 * How an upstream keeps to the document. `strict`: it refuses whatever the document does not show. `sloppy`: numbers as
 * texts, other letter case, further fields, no message, refusals inside a 200, times of Lagos. `lenient`: it ignores
 * what it does not know, and answers as documented.
 */
export const manners = ["lenient", "strict", "sloppy"] as const;
export type Manner = (typeof manners)[number];

const LAGOS_AHEAD_MS = 3_600_000;

/** A time as Lagos writes it, without a zone. */
const lagosTime = (ms: number): string =>
  new Date(ms + LAGOS_AHEAD_MS).toISOString().replace("T", " ").replace(/\..*$/, "");

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Words that a sloppy upstream writes in capitals. */
const CAPITALS = new Set(["status", "code", "type", "event"]);

/** Numbers as texts and words in capitals, at any depth. */
const loosen = (value: unknown, name = ""): unknown => {
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return CAPITALS.has(name) ? value.toUpperCase() : value;
  if (Array.isArray(value)) return value.map((each) => loosen(each));
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([field, each]) => [field, loosen(each, field)]));
};

/** The errors of the application, which comes after the checks of key, address, limit and fields. */
const INSIDE_A_200 = new Set([400, 404]);

/** What a sloppy upstream sends instead of the documented response. */
export const sloppyResponse = ({ status, body }: JsonResponse): JsonResponse => {
  if (!isFields(body)) return { status, body };
  const { message, data, ...envelope } = body;
  const isInside = INSIDE_A_200.has(status);
  return {
    status: isInside ? 200 : status,
    body: {
      ...envelope,
      // Only what nothing else says keeps its message.
      ...((isInside || status >= 500) && { message }),
      ...(data !== undefined && { data: loosen(data) }),
      code: String(status),
      server_time: lagosTime(Date.now()),
      meta: {},
    },
  };
};

/** What a sloppy upstream sends instead of the documented event. */
export const sloppyEvent = (event: unknown): unknown => {
  const loose = loosen(event);
  if (!isFields(loose) || !isFields(loose.data)) return loose;
  const { created_at } = loose.data;
  const created = typeof created_at === "string" ? lagosTime(Date.parse(created_at)) : created_at;
  return { ...loose, id: "1", data: { ...loose.data, created_at: created, balance_before: null } };
};
