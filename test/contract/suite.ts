import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "#zod";
import { type ErrorCode, errors, isErrorCode } from "../../shared/contract/errors.ts";
import { headers } from "../../shared/contract/headers.ts";
import { RETRY_AFTER_S_MAX, rateGroups } from "../../shared/contract/limits.ts";
import { openApiDocument } from "../../shared/contract/openapi/openapi.ts";
import { livePrefixes, type Mode, orderIdentity, TEST_PREFIX } from "../../shared/contract/transaction.ts";
import { type ContractDocument, type DocumentedOperation, readDocument } from "./document.ts";
import { contractHeaders, type Received, type Sent, send, sendWithinRate } from "./exchange.ts";
import { anOrderOf, provocations } from "./provocations.ts";

/** A server of the interface: the local service, a deployed stage, or the upstream simulator. */
export type ContractTarget = {
  readonly name: string;
  /** `service`: the whole document. `interface`: only the part that the upstream also serves. */
  readonly scope: "service" | "interface";
  /** Modes for which it has keys. */
  readonly modes: readonly Mode[];
  /** Errors that need `arrange`, because no request provokes them. */
  readonly arranges: readonly ErrorCode[];
  /** Errors that it never responds with. */
  readonly omits?: readonly ErrorCode[];
  readonly open: () => Promise<OpenTarget>;
};

type OpenTarget = {
  /** Ends with `/v1`. */
  readonly baseUrl: string;
  /** A key with all permissions, if possible one with requests left in this minute. */
  readonly key: (mode: Mode) => Promise<string>;
  /** A key whose next request gets the error. */
  readonly arrange?: (code: ErrorCode, operation: DocumentedOperation) => Promise<string>;
  /** Undoes `arrange`. */
  readonly reset?: () => void;
  readonly close: () => Promise<void>;
};

type Case = { readonly operation: DocumentedOperation; readonly status: number; readonly code: ErrorCode };

/** True if the upstream also serves the operation. */
const isOfInterface = ({ path }: DocumentedOperation): boolean => /^\/(vtu|identity)\//.test(path);

/** What an answer names so that its order is recognised: the service's own, and not required of the upstream (16.1). */
const OWN_FIELDS = new Set<unknown>([...Object.keys(orderIdentity), "phone_number"]);
const withoutOwnFields = (name: string, value: unknown): unknown =>
  name === "required" && Array.isArray(value) && value.includes("status")
    ? value.filter((field) => !OWN_FIELDS.has(field))
    : value;

/** Every documented error of each operation. Errors that use up a key's rate come last. */
const documentedErrors = (operations: readonly DocumentedOperation[]): readonly Case[] => {
  const all = operations.flatMap((operation) =>
    [...operation.responses].flatMap(([status, { examples }]) =>
      [...examples.keys()].filter(isErrorCode).map((code) => ({ operation, status, code })),
    ),
  );
  const usesUp = ({ code }: Case): boolean => code === "rate_limited";
  return [...all.filter((one) => !usesUp(one)), ...all.filter(usesUp)];
};

/** With a single key a test may wait for the next minute. */
const TIMEOUT_MS = 100_000;

/**
 * Tests a target against the document: the example of each operation succeeds, and each error that can be provoked is
 * as documented. Returns the errors that are not tested, as `operation code`.
 */
export const contractSuite = (target: ContractTarget): readonly string[] => {
  const isService = target.scope === "service";
  const raw: unknown = JSON.parse(JSON.stringify(openApiDocument(), isService ? undefined : withoutOwnFields));
  const document = readDocument(raw, { closed: isService });
  const operations = document.operations.filter((operation) => isService || isOfInterface(operation));
  const isTested = ({ operation, code }: Case): boolean => {
    if (target.omits?.includes(code)) return false;
    // An order that meets an unexpected error fails the invocation: docs/interface.md 5.D4.
    if (code === "internal_error" && documentsReplay(operation.responses.get(200)?.headers)) return false;
    if (target.arranges.includes(code)) return !operation.isPublic;
    return code === "rate_limited" || provocations[code]?.(operation) !== undefined;
  };
  const cases = documentedErrors(operations);

  describe(`${target.name}: the contract`, { timeout: TIMEOUT_MS }, () => {
    let open: OpenTarget;
    beforeAll(async () => {
      open = await target.open();
    });
    afterAll(() => open?.close());

    const expectResponse = createExpectResponse(document, target);
    const ask = async (operation: DocumentedOperation, mode: Mode, sent: Sent): Promise<Received> =>
      sendWithinRate(open.baseUrl, operation, { key: await open.key(mode), ...sent });

    describe.each(target.modes)("with a %s key", (mode) => {
      test.each(operations)("$method $path: the example succeeds as documented", async (operation) => {
        const key = await open.key(mode);
        const received = await sendWithinRate(open.baseUrl, operation, {
          key,
          body: anOrderOf(operation),
          parameters: await parametersFor(operation, key),
        });
        expectResponse(operation, received, 200);
        expectReference(received, mode);
      });

      const tagged = operations.filter(({ responses }) => isService && responses.has(304));
      test.runIf(isService).each(tagged)(
        "$method $path: a request with the current ETag gets 304 without a body",
        async (operation) => {
          const first = await ask(operation, mode, {});
          const again = await ask(operation, mode, {
            headers: { "if-none-match": first.headers.get("etag") ?? "" },
          });
          expectResponse(operation, again, 304);
          expect(again.text).toBe("");
        },
      );

      const replayable = operations.filter(
        ({ responses }) => isService && documentsReplay(responses.get(200)?.headers),
      );
      test.runIf(isService).each(replayable)(
        "$method $path: a replay gets the same transaction, marked as replayed",
        async (operation) => {
          const key = await open.key(mode);
          const sent = { key, body: { reference: `contract-${crypto.randomUUID()}`, ...anOrderOf(operation) } };
          const first = await sendWithinRate(open.baseUrl, operation, sent);
          const again = await sendWithinRate(open.baseUrl, operation, sent);
          expectResponse(operation, again, 200);
          expect(again.text).toBe(first.text);
          expect(again.headers.get(headers.idempotentReplayed)).toBe("true");
        },
      );
    });

    /** The documented examples, or the reference of a new transaction if the path needs one. */
    const parametersFor = async (operation: DocumentedOperation, key: string): Promise<Record<string, string>> => {
      const examples = operation.parameters.flatMap(({ name, example }) => (example ? [[name, example] as const] : []));
      if (!operation.path.includes("{reference}")) return Object.fromEntries(examples);
      const purchase = document.operation("buyData");
      const bought = await sendWithinRate(open.baseUrl, purchase, { key, body: anOrderOf(purchase) });
      return { reference: bought.headers.get(headers.transactionReference) ?? "" };
    };

    test("a key in X-API-KEY is accepted", async () => {
      const catalog = document.operation("listCatalog");
      const received = await sendWithinRate(open.baseUrl, catalog, {
        headers: { "X-API-KEY": await open.key("test") },
      });
      expectResponse(catalog, received, 200);
    });

    test.each(cases.filter(isTested).map((one) => ({ ...one, name: one.operation.id })))(
      "$name: $code is $status as documented",
      async ({ operation, code, status }) => {
        try {
          expectResponse(operation, await provoke(operation, code), status, code);
        } finally {
          open.reset?.();
        }
      },
    );

    /** One for all, so that each rate group is exhausted once a minute, and not once for each of its operations. */
    let exhaustedKey: string | undefined;
    const provoke = async (operation: DocumentedOperation, code: ErrorCode): Promise<Received> => {
      if (code === "rate_limited") {
        exhaustedKey ??= await open.key("test");
        return exhaust(open.baseUrl, operation, exhaustedKey);
      }
      const key = target.arranges.includes(code) ? await open.arrange?.(code, operation) : undefined;
      if (key !== undefined) return send(open.baseUrl, operation, { key, body: anOrderOf(operation) });
      const shared = await open.key("test");
      let last: Received | undefined;
      for (const { operation: other, ...sent } of provocations[code]?.(operation) ?? []) {
        const asked = other === undefined ? operation : document.operation(other);
        last = await sendWithinRate(open.baseUrl, asked, { key: shared, ...sent });
      }
      if (last === undefined) throw new Error(`No request provokes ${code}`);
      return last;
    };
  });

  return cases.filter((one) => !isTested(one)).map(({ operation, code }) => `${operation.id} ${code}`);
};

const documentsReplay = (documented: ReadonlyMap<string, unknown> | undefined): boolean =>
  documented?.has(headers.idempotentReplayed) ?? false;

/** Simultaneous requests. A minute may end in the meantime, so that twice the limit may be needed. */
const BURST = 20;

/** Sends requests without effect until one is over the limit. */
const exhaust = async (baseUrl: string, operation: DocumentedOperation, key: string): Promise<Received> => {
  const sent: Sent = { key, ...(operation.body && { raw: "{" }), parameters: { reference: "none" } };
  const first = await send(baseUrl, operation, sent);
  if (first.status === 429) return first;
  const limit = Number(first.headers.get(headers.rateLimit));
  for (let count = 0; count <= 2 * limit + BURST; count += BURST) {
    const responses = await Promise.all(Array.from({ length: BURST }, () => send(baseUrl, operation, sent)));
    const over = responses.find(({ status }) => status === 429);
    if (over !== undefined) return over;
  }
  throw new Error(`The limit of ${limit} requests per minute was exceeded without a 429`);
};

/** The headers that the upstream also sends; it sends `Retry-After` with a 429 only. */
const isOfInterfaceHeader = (name: string, status: number): boolean =>
  name === headers.rateLimit || name === headers.rateRemaining || (name === headers.retryAfter && status === 429);

/** Expects the response that the document has for the status and the error code. */
const createExpectResponse =
  (document: ContractDocument, { scope }: ContractTarget) =>
  (operation: DocumentedOperation, received: Received, status: number, code?: ErrorCode): void => {
    expect(received.status, received.text).toBe(status);
    const documented = operation.responses.get(status);
    if (documented === undefined) throw new Error(`${status} is not documented`);

    for (const [name, { required, schema }] of documented.headers) {
      if (scope === "interface" && !isOfInterfaceHeader(name, status)) continue;
      const value = received.headers.get(name);
      if (required) expect(value, `header ${name}`).not.toBeNull();
      if (value === null) continue;
      expect(document.validate(schema)(schema.type === "integer" ? Number(value) : value), `header ${name}`).toBe(
        undefined,
      );
    }
    expectRate(operation, received, code);
    if (documented.mediaType === undefined) return;
    expect(received.headers.get("content-type")).toContain(documented.mediaType);
    if (documented.mediaType !== "application/json") return;
    const body: unknown = JSON.parse(received.text, expectWholeKobo);
    expect(document.validate(documented.schema ?? {})(body), received.text).toBeUndefined();

    if (scope === "interface") return;
    const undocumented = contractHeaders(received).filter((name) => !documented.headers.has(name));
    expect(undocumented, "undocumented headers").toEqual([]);
    if (documented.headers.has(headers.callerReference)) {
      const isBefore = code !== undefined && BEFORE_REFERENCE.has(code);
      const named = received.headers.get(headers.callerReference);
      expect(named, headers.callerReference).toBe(isBefore ? null : (received.sentReference ?? null));
    }
    if (code === undefined) {
      const example = documented.examples.get("example");
      if (example !== undefined) expect(message(body)).toBe(message(example));
      return;
    }
    expect(received.headers.get(headers.errorCode)).toBe(code);
    // The message names the address of the request, or the earlier order.
    if (code === "ip_not_whitelisted") expect(message(body)).toMatch(/^The IP address \S+ is not whitelisted$/);
    else if (code === "possible_duplicate") {
      const [, earlier] = /^The order is like (\S+) \(your reference \S+\), /.exec(message(body)) ?? [];
      expect(received.headers.get(headers.duplicateOf)).toBe(earlier);
    } else if (code === "limit_reached")
      expect(message(body)).toBe(
        "The order would pass the limit of this account: 1 NGN an order. Nothing was charged. Order less, or have the limit raised",
      );
    else expect(body).toEqual(documented.examples.get(code));
    expect(errors[code].status).toBe(status);
  };

/** Errors of requests whose fields were not all read, with the provocations of this suite: docs/interface.md 8.D12. */
const BEFORE_REFERENCE = new Set<ErrorCode>([
  ...(["missing_api_key", "invalid_api_key", "account_restricted", "permission_denied"] as const),
  ...(["ip_not_whitelisted", "rate_limited", "invalid_json", "missing_parameter", "consent_required"] as const),
  "validation_failed",
]);

/** The documented limit, of which a counted request has used one. Source: docs/interface.md 6.1, 6.3, 6.D1. */
const expectRate = ({ tags, isPublic }: DocumentedOperation, { headers: received }: Received, code?: ErrorCode) => {
  const group = Object.entries(rateGroups).find(([name]) => tags.includes(name))?.[1];
  const [limit, left] = [headers.rateLimit, headers.rateRemaining].map((name) => Number(received.get(name)));
  expect(limit, headers.rateLimit).toBe(group?.requestsPerMinute);
  if (code === "rate_limited") {
    expect(left, headers.rateRemaining).toBe(0);
    expect(Number(received.get(headers.retryAfter)), headers.retryAfter).toBeLessThanOrEqual(RETRY_AFTER_S_MAX);
  } else if (code === undefined && !isPublic) expect(left, headers.rateRemaining).toBeLessThan(limit ?? 0);
};

/** Source: docs/interface.md 4.4. */
const expectWholeKobo = (field: string, value: unknown): unknown => {
  if (typeof value === "number") expect(Number(value.toFixed(2)), field).toBe(value);
  return value;
};

const ordered = z.object({ data: z.object({ transaction: z.object({ reference: z.string() }) }) });

/** Source: docs/interface.md 8.5. */
const expectReference = ({ text }: Received, mode: Mode): void => {
  const body = text.startsWith("{") ? ordered.safeParse(JSON.parse(text)).data : undefined;
  if (body === undefined) return;
  const prefixes = mode === "test" ? [TEST_PREFIX] : Object.values(livePrefixes);
  const { reference } = body.data.transaction;
  expect(
    prefixes.some((prefix) => reference.startsWith(prefix)),
    reference,
  ).toBe(true);
};

const message = (body: unknown): string => z.object({ message: z.string() }).parse(body).message;
