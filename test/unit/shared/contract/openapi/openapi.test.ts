import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import * as z from "#zod";
import { docsPage } from "../../../../../functions/serve-docs/docs-page.ts";
import { documentText } from "../../../../../shared/call/prepared-document.ts";
import { builtInPlans } from "../../../../../shared/catalog/built-in-catalog.ts";
import { changeBetween } from "../../../../../shared/catalog/catalog-change.ts";
import { errors } from "../../../../../shared/contract/errors.ts";
import { headers } from "../../../../../shared/contract/headers.ts";
import { rateGroups } from "../../../../../shared/contract/limits.ts";
import { openApiDocument } from "../../../../../shared/contract/openapi/openapi.ts";
import { errorsOf, isOrder } from "../../../../../shared/contract/route.ts";
import { appRoutes, routes } from "../../../../../shared/contract/routes.ts";
import { webhookId } from "../../../../../shared/webhooks/signature.ts";
import {
  catalogUpdatedBody,
  limitNearBody,
  testEventBody,
  walletLowBody,
  webhookBody,
} from "../../../../../shared/webhooks/webhook-body.ts";
import { aTransaction } from "../../../../builders/ledger/transaction.ts";
import { aCatalog, aPlan } from "../../../../builders/upstream/catalog.ts";
import { readDocument } from "../../../../contract/document.ts";

const text = JSON.stringify(openApiDocument());
const document = readDocument(JSON.parse(text));
const table = Object.entries(appRoutes).map(([id, route]) => ({ id, route }));

test("the document is OpenAPI 3.1 by the specification's own schema", async () => {
  const validator = new Validator();
  expect(await validator.validate(JSON.parse(text))).toMatchObject({ valid: true });
  expect(validator.version).toBe("3.1");
});

// openapi-generator 7.25 takes such a constant for the text "true": its Python and PHP throw for each answer to a purchase,
// and the caller buys again. A choice is a class that its Java cannot leave out of a query.
test("no schema is a boolean constant or a choice between formats, which generators of clients misread", () => {
  const misread = z.union([
    z.looseObject({ type: z.literal("boolean"), const: z.boolean() }),
    z.looseObject({ anyOf: z.array(z.looseObject({ type: z.literal("string") })) }),
  ]);
  const found: string[] = [];
  JSON.parse(text, (name, value: unknown) => {
    if (misread.safeParse(value).success) found.push(name);
    return value;
  });
  expect(found).toEqual([]);
});

test("callers with an API of their own find it in the document, which is itself beside /v1/docs", () => {
  const url = "https://callers.example/callers/v1";
  const { servers, paths } = openApiDocument(url);
  expect(servers).toEqual([{ url }]);
  const elsewhere = Object.entries(paths).filter(([, path]) => "servers" in path);
  expect(Object.fromEntries(elsewhere)).toMatchObject({
    "/openapi.json": { servers: [{ url: "/v1" }] },
    "/docs": { servers: [{ url: "/v1" }] },
  });
  expect(elsewhere).toHaveLength(2);
  expect(text).toContain('"servers":[{"url":"/v1"}]');
});

test("docs/openapi.json is the document that the code makes", () => {
  const committed = readFileSync(new URL("../../../../../docs/openapi.json", import.meta.url), "utf8");
  expect(JSON.parse(committed), "docs/openapi.json is stale: run `npm run openapi` and commit it").toEqual(
    JSON.parse(text),
  );
});

test("the document has one operation for each route that apps call, under the route's name, and no other", () => {
  const documented = document.operations.map(({ id, method, path }) => `${id} ${method} /v1${path}`);
  expect(documented).toEqual(table.map(({ id, route }) => `${id} ${route.method} ${route.path}`));
});

test("no two examples of orders have the same reference, neither the caller's nor the service's", () => {
  const orders = table.filter(({ route }) => isOrder(route));
  const sent = orders.map(({ id }) => document.operation(id).body?.example.reference);
  const made = orders.map(({ id }) => {
    const example = document.operation(id).responses.get(200)?.examples.get("example");
    return z.object({ data: z.object({ transaction: z.object({ reference: z.string() }) }) }).parse(example).data
      .transaction.reference;
  });
  expect(orders).toHaveLength(7);
  expect(sent).not.toContain(undefined);
  expect(new Set(sent).size).toBe(7);
  expect(new Set(made).size).toBe(7);
});

test("the examples of data bundles show plan 101 of the built-in catalog, with its network and price", () => {
  const plan = builtInPlans.plans.get(101);
  const network = builtInPlans.networks.get(plan?.network_id ?? 0);
  const { listCatalog, buyData } = routes;
  expect(listCatalog.example.data).toEqual({ networks: [network], data_plans: [plan] });
  expect(buyData.example.input).toMatchObject({ network_id: network?.id, plan_id: plan?.id });
  const { amount, description } = buyData.example.data.transaction;
  expect([amount, description]).toEqual([plan?.price, `${network?.name} ${plan?.name} data for 08031234567`]);
});

test("the webhook-id of each example is the one that the service would send", () => {
  const at = "2026-11-21T09:30:00.000Z";
  const ids = document.webhooks.map(({ parameters }) => parameters.find(({ name }) => name === "webhook-id")?.example);
  expect(ids).toEqual([
    webhookId(routes.buyData.example.data.transaction.reference, "success"),
    ...[
      ["wallet.low.acc_", at],
      ["limit.near.acc_", ".day_naira.100000.2026-11-21"],
      ["catalog.updated.acc_", at],
      ["acc_", at],
    ].map(([prefix, of = ""]) => webhookId(`${prefix}0123456789abcdef01`, of)),
  ]);
});

describe.each(table)("the operation $id", ({ id, route }) => {
  const { responses, body, parameters, isPublic } = document.operation(id);

  test(`${id} documents each error of its route under its status, in X-Error-Code and with an example, and no other`, () => {
    const documented = [...responses].flatMap(([status, response]) => {
      const codes = z.array(z.string()).parse(response.headers.get(headers.errorCode)?.schema.enum ?? []);
      expect([...response.examples.keys()].filter((name) => name !== "example")).toEqual(codes);
      return codes.map((code) => `${status} ${code}`);
    });
    const promised = errorsOf(route).map((code) => `${errors[code].status} ${code}`);
    expect(documented).toHaveLength(promised.length);
    expect(new Set(documented)).toEqual(new Set(promised));
  });

  test(`the examples of ${id} fit their schemas`, () => {
    let examples = 0;
    for (const response of responses.values()) {
      for (const [name, example] of response.examples) {
        expect(document.validate(response.schema ?? {})(example), name).toBeUndefined();
        examples += 1;
      }
    }
    if (body !== undefined) expect(document.validate(body.schema)(body.example)).toBeUndefined();
    expect(examples).toBeGreaterThanOrEqual(errorsOf(route).length);
  });

  test(`${id} describes every field of its input, in the body or as a parameter`, () => {
    const properties = z.record(z.string(), z.unknown()).parse(body ? document.follow(body.schema).properties : {});
    const fields = [...Object.keys(properties), ...parameters.flatMap((one) => (one.in === "header" ? [] : one.name))];
    expect(new Set(fields)).toEqual(new Set(Object.keys(route.input.shape)));
  });

  test(`${id} documents the rate headers and the request id on every response`, () => {
    expect(responses.size).toBeGreaterThan(1);
    for (const [status, response] of responses) {
      for (const name of [headers.rateLimit, headers.rateRemaining, headers.requestId]) {
        expect(response.headers.get(name)?.required, `${status} ${name}`).toBe(true);
      }
    }
  });

  // A cancellation has no 400 after its fields are read.
  test.runIf(isOrder(route) && id !== "cancelOrder")(
    `${id} may name the order in each response but one about the key or a failure`,
    () => {
      const unnamed = [...responses].filter(([, { headers }]) => !headers.has("x-caller-reference"));
      expect(unnamed.map(([status]) => status)).toEqual([401, 500]);
    },
  );

  test(`${id} needs a key unless it serves a document`, () => {
    expect(isPublic).toBe(route.document !== undefined);
  });
});

test("both headers for the key are security schemes, and either is sufficient", () => {
  const { components, security } = openApiDocument();
  expect(components.securitySchemes).toMatchObject({
    bearer: { type: "http", scheme: "bearer" },
    apiKey: { type: "apiKey", in: "header", name: "X-API-KEY" },
  });
  expect(security).toEqual([{ bearer: [] }, { apiKey: [] }]);
});

test("every header of the contract is in the document", () => {
  const described = new Set([
    ...document.operations.flatMap(({ responses }) =>
      [...responses.values()].flatMap((one) => [...one.headers.keys()]),
    ),
    ...document.operations.flatMap(({ parameters }) => parameters.map(({ name }) => name.toLowerCase())),
    "x-api-key",
  ]);
  expect([...described]).toEqual(expect.arrayContaining(Object.values(headers)));
});

test("the document has exactly the statuses of the interface", () => {
  const statuses = new Set(document.operations.flatMap(({ responses }) => [...responses.keys()]));
  const allowed = [200, 304, 400, 401, 403, 404, 422, 429, 500, 502, 503, 504];
  expect([...statuses].filter((status) => !allowed.includes(status))).toEqual([]);
  expect(statuses.size).toBe(allowed.length);
});

test("the examples of webhooks and the bodies that the service sends fit the documented schemas without further fields", () => {
  const closed = readDocument(JSON.parse(text), { closed: true });
  expect(closed.webhooks.map(({ id, path }) => `${id} ${path}`)).toEqual([
    "transactionUpdated transaction.updated",
    "walletLow wallet.low",
    "limitNear limit.near",
    "catalogUpdated catalog.updated",
    "webhookTest webhook.test",
  ]);
  const at = "2026-11-21T09:30:00.000Z";
  const change = changeBetween(
    aCatalog(3),
    aCatalog(0, { data_plans: [aPlan({ price: 510 }), aPlan({ id: 900 })] }),
    at,
  );
  const { network: _network, phone_number: _phone, ...check } = aTransaction({ type: "nin_verification" });
  const sent: readonly (readonly string[])[] = [
    [
      webhookBody(aTransaction({ status: "success" }), "success"),
      webhookBody(aTransaction({ status: "failed" }), "failed"),
      webhookBody(check, "failed"),
    ],
    [walletLowBody({ account_id: "acc_1", balance: 4_500.5, threshold: 5_000, at })],
    [limitNearBody({ account_id: "acc_1", key_id: "key_1", limit: "month_orders", max: 5_000, period: "2026-11" })],
    [catalogUpdatedBody(change?.data ?? "")],
    [testEventBody("acc_1", at)],
  ];
  for (const [position, { id, body }] of closed.webhooks.entries()) {
    const { schema, example } = body ?? { schema: { not: {} }, example: {} };
    const validate = closed.validate(schema);
    const bodies = sent[position]?.map((text): unknown => JSON.parse(text)) ?? [];
    expect(bodies, id).not.toEqual([]);
    for (const each of [example, ...bodies]) expect(validate(each), id).toBeUndefined();
  }
});

test("docs/interface.md has the fields of each webhook that an endpoint can get, and docs/webhooks.md a body of each", () => {
  const [rules, guide] = ["docs/interface.md", "docs/webhooks.md"].map((file) => readFileSync(file, "utf8"));
  for (const { id, path } of document.webhooks) {
    if (id !== "webhookTest") expect(rules, path).toContain(`| \`event\` | string | \`${path}\` |`);
    expect(guide, path).toMatch(new RegExp(`"event": ?"${path}"`));
  }
});

test("every rate group is a tag of the document, which names its requests per minute", () => {
  const tags = new Map(openApiDocument().tags.map(({ name, description }) => [name, description]));
  for (const [group, { requestsPerMinute }] of Object.entries(rateGroups)) {
    expect(tags.get(group)).toContain(` ${requestsPerMinute} requests per minute and key.`);
  }
});

test("every component of the document is used, and every $ref has one", () => {
  const used = new Set([...text.matchAll(/"\$ref":"#\/components\/(\w+\/[\w-]+)"/g)].map(([, name]) => name));
  const { securitySchemes: _schemes, ...components } = openApiDocument().components;
  const present = Object.entries(components).flatMap(([kind, parts]) =>
    Object.keys(parts).map((name) => `${kind}/${name}`),
  );
  expect(used).toEqual(new Set(present));
});

const html = documentText(docsPage());

test("the documentation page has a content security policy that allows its own script only and no other host", () => {
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

test("the documentation page loads no style, font, image or script from a URL", () => {
  const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? "";
  expect(style.length).toBeGreaterThan(100_000);
  expect(style.match(/@import|url\((?!["']?data:)/g)).toBeNull();
  const head = html.replace(/<(style|script)>[\s\S]*?<\/\1>/g, "");
  expect(head.match(/\s(src|href)="(?!data:)/g)).toBeNull();
});

test("the documentation page loads the OpenAPI document from the same folder", () => {
  expect(html).toContain('SwaggerUIBundle({ url: "openapi.json"');
});

test("the documentation page is smaller than a sixth of the largest response that Lambda allows", () => {
  expect(Math.ceil(docsPage().gzip.length / 3) * 4).toBeLessThan(1_000_000);
});
