import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { docsPage } from "../../../../functions/serve-docs/docs-page.ts";
import { errors } from "../../../../shared/contract/errors.ts";
import { headers } from "../../../../shared/contract/headers.ts";
import { openApiDocument } from "../../../../shared/contract/openapi.ts";
import { fieldNotes, namedSchemas } from "../../../../shared/contract/openapi-schemas.ts";
import { appRoutes, errorsOf } from "../../../../shared/contract/routes.ts";
import { documentText } from "../../../../shared/lambda/prepared-document.ts";
import { testEventBody, webhookBody } from "../../../../shared/webhooks/webhook-body.ts";
import { aTransactionRow } from "../../../builders/transaction.ts";
import { readDocument } from "../../../contract/document.ts";

const text = JSON.stringify(openApiDocument());
const document = readDocument(JSON.parse(text));
const table = Object.entries(appRoutes).map(([id, route]) => ({ id, route }));

test("the document is OpenAPI 3.1 by the specification's own schema", async () => {
  const validator = new Validator();
  expect(await validator.validate(JSON.parse(text))).toMatchObject({ valid: true });
  expect(validator.version).toBe("3.1");
});

test("docs/openapi.json is what the code says", () => {
  const committed = readFileSync(new URL("../../../../docs/openapi.json", import.meta.url), "utf8");
  expect(JSON.parse(committed), "docs/openapi.json is stale: run `npm run openapi` and commit it").toEqual(
    JSON.parse(text),
  );
});

test("each route that apps call is one operation of the same name, and there is no other", () => {
  const documented = document.operations.map(({ id, method, path }) => `${id} ${method} /v1${path}`);
  expect(documented).toEqual(table.map(({ id, route }) => `${id} ${route.method} ${route.path}`));
});

describe.each(table)("$id", ({ id, route }) => {
  const { responses, body, parameters, isPublic } = document.operation(id);

  test("documents each of its errors under its status, in X-Error-Code and with an example, and no other", () => {
    const documented = [...responses].flatMap(([status, response]) => {
      const codes = z.array(z.string()).parse(response.headers.get(headers.errorCode)?.schema.enum ?? []);
      expect([...response.examples.keys()].filter((name) => name !== "example")).toEqual(codes);
      return codes.map((code) => `${status} ${code}`);
    });
    const promised = errorsOf(route).map((code) => `${errors[code].status} ${code}`);
    expect(documented).toHaveLength(promised.length);
    expect(new Set(documented)).toEqual(new Set(promised));
  });

  test("shows examples that fit their schemas", () => {
    let examples = 0;
    for (const response of responses.values()) {
      for (const [name, example] of response.examples) {
        expect(document.judge(response.schema ?? {})(example), name).toBeUndefined();
        examples += 1;
      }
    }
    if (body !== undefined) expect(document.judge(body.schema)(body.example)).toBeUndefined();
    expect(examples).toBeGreaterThanOrEqual(errorsOf(route).length);
  });

  test("describes every field of its input, in the body or as a parameter", () => {
    const properties = z.record(z.string(), z.unknown()).parse(body ? document.follow(body.schema).properties : {});
    const fields = [...Object.keys(properties), ...parameters.flatMap((one) => (one.in === "header" ? [] : one.name))];
    expect(new Set(fields)).toEqual(new Set(Object.keys(route.input.shape)));
  });

  test("promises the rate and the request's id on every answer", () => {
    for (const [status, response] of responses) {
      for (const name of [headers.rateLimit, headers.rateRemaining, headers.requestId]) {
        expect(response.headers.get(name)?.required, `${status} ${name}`).toBe(true);
      }
    }
  });

  test("needs a key unless it is a document", () => {
    expect(isPublic).toBe(route.document !== undefined);
  });
});

test("both ways to send a key are security schemes, and either is enough", () => {
  const { components, security } = openApiDocument();
  expect(components.securitySchemes).toMatchObject({
    bearer: { type: "http", scheme: "bearer" },
    apiKey: { type: "apiKey", in: "header", name: "X-API-KEY" },
  });
  expect(security).toEqual([{ bearer: [] }, { apiKey: [] }]);
});

test("every header of the contract is described", () => {
  const described = new Set([
    ...document.operations.flatMap(({ responses }) =>
      [...responses.values()].flatMap((one) => [...one.headers.keys()]),
    ),
    ...document.operations.flatMap(({ parameters }) => parameters.map(({ name }) => name.toLowerCase())),
    "x-api-key",
  ]);
  expect([...described]).toEqual(expect.arrayContaining(Object.values(headers)));
});

test("no status is documented but those of the public interface", () => {
  const statuses = new Set(document.operations.flatMap(({ responses }) => [...responses.keys()]));
  const allowed = [200, 304, 400, 401, 403, 404, 422, 429, 500, 502, 503, 504];
  expect([...statuses].filter((status) => !allowed.includes(status))).toEqual([]);
  expect(statuses.size).toBe(allowed.length);
});

test("the outgoing events are documented: their examples and what is really sent fit the schema, and nothing else is sent", () => {
  const closed = readDocument(JSON.parse(text), { closed: true });
  expect(closed.webhooks.map(({ id, path }) => `${id} ${path}`)).toEqual([
    "transactionUpdated transaction.updated",
    "webhookTest webhook.test",
  ]);
  const tested = closed.webhooks[1]?.body ?? { schema: { not: {} }, example: {} };
  for (const body of [tested.example, JSON.parse(testEventBody("acc_1", "2026-11-21T09:30:00.000Z"))]) {
    expect(closed.judge(tested.schema)(body)).toBeUndefined();
  }
  const { schema, example } = closed.webhooks[0]?.body ?? { schema: { not: {} } };
  const judge = closed.judge(schema);
  expect(judge(example)).toBeUndefined();
  for (const status of ["success", "failed"] as const) {
    expect(judge(JSON.parse(webhookBody(aTransactionRow({ status }), status)))).toBeUndefined();
  }
  const { network: _network, phone_number: _phone, ...check } = aTransactionRow({ type: "nin_verification" });
  expect(judge(JSON.parse(webhookBody(check, "failed")))).toBeUndefined();
});

test("every component is used, and every reference finds one", () => {
  const used = new Set([...text.matchAll(/"\$ref":"#\/components\/(\w+\/[\w-]+)"/g)].map(([, name]) => name));
  const { securitySchemes: _schemes, ...components } = openApiDocument().components;
  const present = Object.entries(components).flatMap(([kind, parts]) =>
    Object.keys(parts).map((name) => `${kind}/${name}`),
  );
  expect(used).toEqual(new Set(present));
});

test("every note is on a schema or a field that exists", () => {
  const names = new Set<string>();
  for (const [name, schema] of Object.entries(namedSchemas())) {
    names.add(name);
    for (const field of fieldsOf(schema)) names.add(field).add(`${name}.${field}`);
  }
  expect(Object.keys(fieldNotes).filter((name) => !names.has(name))).toEqual([]);
});

/** The names of a schema's properties, those of objects inside too. */
const fieldsOf = (schema: unknown): string[] => {
  const { properties } = z.object({ properties: z.record(z.string(), z.unknown()).default({}) }).parse(schema);
  return Object.entries(properties).flatMap(([name, inner]) => [name, ...fieldsOf(inner)]);
};

describe("the page", () => {
  const html = documentText(docsPage());

  test("has a policy that lets nothing but its own script run, and asks no other host for anything", () => {
    const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(html)?.[1] ?? "";
    const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script = ""]) => script);
    expect(scripts).toHaveLength(1);
    const digest = createHash("sha256")
      .update(scripts[0] ?? "")
      .digest("base64");
    expect(policy.split("; ")).toEqual([
      "default-src 'none'",
      `script-src 'sha256-${digest}'`,
      "style-src 'unsafe-inline'",
      "img-src data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
    ]);
  });

  test("loads no style, font, image or script by address", () => {
    const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? "";
    expect(style.length).toBeGreaterThan(100_000);
    expect(style.match(/@import|url\((?!["']?data:)/g)).toBeNull();
    const head = html.replace(/<(style|script)>[\s\S]*?<\/\1>/g, "");
    expect(head.match(/\s(src|href)="(?!data:)/g)).toBeNull();
  });

  test("reads the document beside it", () => {
    expect(html).toContain('SwaggerUIBundle({ url: "openapi.json"');
  });

  test("is less than a sixth of what Lambda can answer", () => {
    expect(Math.ceil(docsPage().gzip.length / 3) * 4).toBeLessThan(1_000_000);
  });
});
