import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { type ErrorCode, errors, isErrorCode } from "../../shared/contract/errors.ts";
import { headers } from "../../shared/contract/headers.ts";
import { openApiDocument } from "../../shared/contract/openapi.ts";
import type { Mode } from "../../shared/contract/transaction.ts";
import { type ContractDocument, type DocumentedOperation, readDocument } from "./document.ts";
import { contractHeaders, type Received, type Sent, send, sendPatiently } from "./exchange.ts";
import { anOrderOf, provocations } from "./provocations.ts";

/** Something that speaks the interface: the service on this machine, a deployed stage, an upstream. */
export type Face = {
  readonly name: string;
  /** `service`: all of the document. `interface`: the public interface, without what only this service adds to it. */
  readonly promises: "service" | "interface";
  /** Modes for which it has keys; live ones buy. */
  readonly modes: readonly Mode[];
  /** Errors that no request brings about by itself, and that `arrange` brings about. */
  readonly arranges: readonly ErrorCode[];
  /** Errors that it never answers. */
  readonly lacks?: readonly ErrorCode[];
  readonly open: () => Promise<OpenFace>;
};

type OpenFace = {
  /** With its `/v1`. */
  readonly baseUrl: string;
  /** A key with all permissions, with requests left in this minute where there is a choice. */
  readonly key: (mode: Mode) => Promise<string>;
  /** A key whose next request meets the error. */
  readonly arrange?: (code: ErrorCode, operation: DocumentedOperation) => Promise<string>;
  /** Ends what `arrange` began. */
  readonly relent?: () => void;
  readonly close: () => Promise<void>;
};

type Case = { readonly operation: DocumentedOperation; readonly status: number; readonly code: ErrorCode };

/** What the public interface has of the document. */
const isOfInterface = ({ path }: DocumentedOperation): boolean => /^\/(vtu|identity)\//.test(path);

/** Every error that the document shows, by operation; what uses a key up comes last. */
const documentedErrors = (operations: readonly DocumentedOperation[]): readonly Case[] => {
  const all = operations.flatMap((operation) =>
    [...operation.responses].flatMap(([status, { examples }]) =>
      [...examples.keys()].filter(isErrorCode).map((code) => ({ operation, status, code })),
    ),
  );
  const usesUp = ({ code }: Case): boolean => code === "rate_limited";
  return [...all.filter((one) => !usesUp(one)), ...all.filter(usesUp)];
};

/** A face with one key makes a test wait for the next minute. */
const PATIENCE_MS = 100_000;

/**
 * Holds a face to the document: each operation's example succeeds, and each documented error that can be brought about is
 * answered as documented. Returns the errors, as `operation code`, that this face is not asked for.
 */
export const contractSuite = (face: Face): readonly string[] => {
  const isService = face.promises === "service";
  const document = readDocument(JSON.parse(JSON.stringify(openApiDocument())), { closed: isService });
  const operations = document.operations.filter((operation) => isService || isOfInterface(operation));
  const isAsked = ({ operation, code }: Case): boolean => {
    if (face.lacks?.includes(code)) return false;
    // An order that meets an unexpected error is not answered, unless it is known that nothing was written (decision 0011).
    if (code === "internal_error" && promisesReplay(operation.responses.get(200)?.headers)) return false;
    if (face.arranges.includes(code)) return !operation.isPublic;
    return code === "rate_limited" || provocations[code]?.(operation) !== undefined;
  };
  const cases = documentedErrors(operations);

  describe(`${face.name}: the contract`, { timeout: PATIENCE_MS }, () => {
    let open: OpenFace;
    beforeAll(async () => {
      open = await face.open();
    });
    afterAll(() => open?.close());

    const judge = judging(document, face);
    const ask = async (operation: DocumentedOperation, mode: Mode, sent: Sent): Promise<Received> =>
      sendPatiently(open.baseUrl, operation, { key: await open.key(mode), ...sent });

    describe.each(face.modes)("with a %s key", (mode) => {
      test.each(operations)("$method $path: the example succeeds as documented", async (operation) => {
        const key = await open.key(mode);
        const received = await sendPatiently(open.baseUrl, operation, {
          key,
          body: anOrderOf(operation),
          parameters: await parametersFor(operation, key),
        });
        judge(operation, received, 200);
      });

      const tagged = operations.filter(({ responses }) => isService && responses.has(304));
      test.runIf(isService).each(tagged)(
        "$method $path: with its own tag the answer is 304 without a body",
        async (operation) => {
          const first = await ask(operation, mode, {});
          const again = await ask(operation, mode, {
            headers: { "if-none-match": first.headers.get("etag") ?? "" },
          });
          judge(operation, again, 304);
          expect(again.text).toBe("");
        },
      );

      const repeatable = operations.filter(({ responses }) => isService && promisesReplay(responses.get(200)?.headers));
      test.runIf(isService).each(repeatable)(
        "$method $path: repeated under its reference it is the same transaction, marked as replayed",
        async (operation) => {
          const key = await open.key(mode);
          const sent = { key, body: { reference: `contract-${crypto.randomUUID()}`, ...anOrderOf(operation) } };
          const first = await sendPatiently(open.baseUrl, operation, sent);
          const again = await sendPatiently(open.baseUrl, operation, sent);
          judge(operation, again, 200);
          expect(again.text).toBe(first.text);
          expect(again.headers.get(headers.idempotentReplayed)).toBe("true");
        },
      );
    });

    /** A transaction to look up, where the path asks for one; else the documented examples. */
    const parametersFor = async (operation: DocumentedOperation, key: string): Promise<Record<string, string>> => {
      const examples = operation.parameters.flatMap(({ name, example }) => (example ? [[name, example] as const] : []));
      if (!operation.path.includes("{reference}")) return Object.fromEntries(examples);
      const purchase = document.operation("buyData");
      const bought = await sendPatiently(open.baseUrl, purchase, { key, body: anOrderOf(purchase) });
      return { reference: bought.headers.get(headers.transactionReference) ?? "" };
    };

    test("a key in X-API-KEY is as good as one in Authorization", async () => {
      const catalog = document.operation("listCatalog");
      const received = await sendPatiently(open.baseUrl, catalog, {
        headers: { "X-API-KEY": await open.key("test") },
      });
      judge(catalog, received, 200);
    });

    test.each(cases.filter(isAsked).map((one) => ({ ...one, name: one.operation.id })))(
      "$name: $code is answered $status as documented",
      async ({ operation, code, status }) => {
        try {
          judge(operation, await meet(operation, code), status, code);
        } finally {
          open.relent?.();
        }
      },
    );

    const meet = async (operation: DocumentedOperation, code: ErrorCode): Promise<Received> => {
      if (code === "rate_limited") return exhaust(open.baseUrl, operation, await open.key("test"));
      const key = face.arranges.includes(code) ? await open.arrange?.(code, operation) : undefined;
      if (key !== undefined) return send(open.baseUrl, operation, { key, body: anOrderOf(operation) });
      const shared = await open.key("test");
      let last: Received | undefined;
      for (const sent of provocations[code]?.(operation) ?? []) {
        last = await sendPatiently(open.baseUrl, operation, { key: shared, ...sent });
      }
      if (last === undefined) throw new Error(`Nothing brings about ${code}`);
      return last;
    };
  });

  return cases.filter((one) => !isAsked(one)).map(({ operation, code }) => `${operation.id} ${code}`);
};

const promisesReplay = (documented: ReadonlyMap<string, unknown> | undefined): boolean =>
  documented?.has(headers.idempotentReplayed) ?? false;

/** Requests at once; a minute may end meanwhile, so that twice the limit may be needed. */
const BURST = 40;

/** Sends requests that come to nothing until one is over the limit. */
const exhaust = async (baseUrl: string, operation: DocumentedOperation, key: string): Promise<Received> => {
  const sent: Sent = { key, ...(operation.body && { raw: "{" }), parameters: { reference: "none" } };
  let limit = Number.POSITIVE_INFINITY;
  for (let count = 0; count <= 2 * limit + BURST; count += BURST) {
    const answers = await Promise.all(Array.from({ length: BURST }, () => send(baseUrl, operation, sent)));
    const over = answers.find(({ status }) => status === 429);
    if (over !== undefined) return over;
    limit = Number(answers[0]?.headers.get(headers.rateLimit));
  }
  throw new Error(`${limit} requests a minute are documented, and more were let through`);
};

/** The public interface has `Retry-After` with a 429 only. */
const isOfInterfaceHeader = (name: string, status: number): boolean =>
  name === headers.rateLimit || name === headers.rateRemaining || (name === headers.retryAfter && status === 429);

/** Fails unless the answer is what the document shows for this status, and for this error if there is one. */
const judging =
  (document: ContractDocument, { promises }: Face) =>
  (operation: DocumentedOperation, received: Received, status: number, code?: ErrorCode): void => {
    expect(received.status, received.text).toBe(status);
    const documented = operation.responses.get(status);
    if (documented === undefined) throw new Error(`${status} is not documented`);

    for (const [name, { required, schema }] of documented.headers) {
      if (promises === "interface" && !isOfInterfaceHeader(name, status)) continue;
      const value = received.headers.get(name);
      if (required) expect(value, `header ${name}`).not.toBeNull();
      if (value === null) continue;
      expect(document.judge(schema)(schema.type === "integer" ? Number(value) : value), `header ${name}`).toBe(
        undefined,
      );
    }
    if (documented.mediaType === undefined) return;
    expect(received.headers.get("content-type")).toContain(documented.mediaType);
    if (documented.mediaType !== "application/json") return;
    const body: unknown = JSON.parse(received.text);
    expect(document.judge(documented.schema ?? {})(body), received.text).toBeUndefined();

    if (promises === "interface") return;
    const undocumented = contractHeaders(received).filter((name) => !documented.headers.has(name));
    expect(undocumented, "undocumented headers").toEqual([]);
    if (code === undefined) {
      const example = documented.examples.get("example");
      if (example !== undefined) expect(message(body)).toBe(message(example));
      return;
    }
    expect(received.headers.get(headers.errorCode)).toBe(code);
    // This one names the address that was seen.
    if (code === "ip_not_whitelisted") expect(message(body)).toMatch(/^The IP address \S+ is not whitelisted$/);
    else expect(body).toEqual(documented.examples.get(code));
    expect(errors[code].status).toBe(status);
  };

const message = (body: unknown): string => z.object({ message: z.string() }).parse(body).message;
