import { describe, expect, test } from "vitest";
import * as z from "#zod";
import { callerRoutes, requestsPerSecondOf } from "../../../../infra/gateway.ts";
import { routeKey } from "../../../../shared/contract/route.ts";
import { routes } from "../../../../shared/contract/routes.ts";
import { evaluate, statementsIn } from "../../../builders/iam/evaluate.ts";
import { aDomain, stageVariants } from "../../../builders/templates/stage-variants.ts";
import { templatesOf } from "../../../builders/templates/templates.ts";

/** Goal: only the callers' networks reach the callers' routes, and no other API has these routes. */
const ranges = ["198.51.100.0/24", "2001:db8::/48"];
const endpoints = ["vpce-0a1b2c3d", "vpce-0a1b2c3e"];
const rest = templatesOf("sandbox", stageVariants["a REST API for callers"]?.[1]).service;
const closed = templatesOf(
  "prod",
  stageVariants["a private API for callers, and a domain for the others"]?.[1],
).service;
type Service = typeof rest;

const propertiesOf = (service: Service, type: string) => service.all(type).map(({ Properties }) => Properties);
const policy = z.object({
  Version: z.string(),
  Statement: z.array(
    z.looseObject({ Principal: z.union([z.literal("*"), z.object({ AWS: z.literal("*") })]), Resource: z.string() }),
  ),
});
/** The policy as API Gateway stores it, without the principal, which is everybody. */
const isAdmitted = (service: Service, context: Readonly<Record<string, string>>): boolean => {
  const api = "arn:aws:execute-api:us-east-1:000000000000:callers";
  const { Version, Statement } = policy.parse(propertiesOf(service, "AWS::ApiGateway::RestApi")[0]?.Policy);
  const statements = Statement.map(({ Principal: _, Resource, ...statement }) => ({
    ...statement,
    Resource: Resource.replace(/^execute-api:/, api),
  }));
  return (
    evaluate(statementsIn({ Version, Statement: statements }), {
      action: "execute-api:Invoke",
      resource: `${api}/callers/POST/v1/vtu/data/purchase`,
      context,
    }) === "allowed"
  );
};

const routesOn = (service: Service): ReadonlySet<string> =>
  new Set(propertiesOf(service, "AWS::ApiGatewayV2::Route").map(({ RouteKey }) => String(RouteKey)));

describe("the resource policy", () => {
  test.each([
    { from: "198.51.100.7", admitted: true },
    { from: "2001:db8::7", admitted: true },
    { from: "198.51.101.7", admitted: false },
    { from: "2001:db8:1::7", admitted: false },
    { from: "10.0.0.7", admitted: false },
  ])("of a regional API decides by the caller's address: $from, $admitted", ({ from, admitted }) => {
    expect(isAdmitted(rest, { "aws:SourceIp": from })).toBe(admitted);
  });

  test("of a regional API refuses a request without an address", () => {
    expect(isAdmitted(rest, {})).toBe(false);
  });

  test("of a private API admits its endpoints only", () => {
    for (const endpoint of endpoints) expect(isAdmitted(closed, { "aws:SourceVpce": endpoint })).toBe(true);
    expect(isAdmitted(closed, { "aws:SourceVpce": "vpce-0a1b2c3f" })).toBe(false);
    expect(isAdmitted(closed, { "aws:SourceIp": "198.51.100.7" })).toBe(false);
    expect(propertiesOf(closed, "AWS::ApiGateway::RestApi")).toMatchObject([
      { EndpointConfiguration: { Types: ["PRIVATE"], VpcEndpointIds: endpoints } },
    ]);
  });
});

test("a regional and a private API are two APIs, so that a stage that changes from one to the other changes none in place", () => {
  const idsOf = (service: Service): readonly string[] =>
    service.every.filter(({ Type }) => /^AWS::ApiGateway::(RestApi|Stage)$/.test(Type)).map(({ id }) => id);
  expect(idsOf(rest)).toHaveLength(2);
  expect(idsOf(closed)).toHaveLength(2);
  expect(idsOf(rest).filter((id) => idsOf(closed).includes(id))).toEqual([]);
});

describe.each([
  ["rest", rest],
  ["private", closed],
])("with a %s API", (_, service) => {
  test("the callers' routes are methods of the REST API, and the others stay on the HTTP API", () => {
    const http = routesOn(service);
    expect(propertiesOf(service, "AWS::ApiGateway::Method")).toHaveLength(callerRoutes.size);
    for (const key of callerRoutes.keys()) expect(http.has(key), key).toBe(false);
    expect([...http]).toEqual(
      expect.arrayContaining([routeKey(routes.receiveUpstreamEvent), routeKey(routes.showDocs), "$default"]),
    );
    expect([...http].filter((key) => key.includes("/operations/"))).toHaveLength(5);
  });

  test("the document names the callers' API, because it is not beside it", () => {
    const docs = propertiesOf(service, "AWS::Lambda::Function").find(({ FunctionName }) =>
      String(FunctionName).endsWith("serve-docs"),
    );
    expect(JSON.stringify(docs?.Environment)).toMatch(/"CALLERS_URL":.*\/callers\/v1/);
  });

  test("each method has its share of the stage's limit, and the access log has the fields of the HTTP API's", () => {
    const [stage] = propertiesOf(service, "AWS::ApiGateway::Stage");
    const settings = z
      .array(z.object({ HttpMethod: z.string(), ResourcePath: z.string(), ThrottlingRateLimit: z.number() }))
      .parse(stage?.MethodSettings);
    const limits = new Map(
      settings.map(({ HttpMethod, ResourcePath, ThrottlingRateLimit }) => [
        `${HttpMethod} ${ResourcePath.replace(/^\//, "").replaceAll("~1", "/")}`,
        ThrottlingRateLimit,
      ]),
    );
    for (const [key, route] of callerRoutes) expect(limits.get(key), key).toBe(requestsPerSecondOf(route, 200));
    const formatOf = (type: string, setting: string): unknown => {
      const { Format } = z.object({ Format: z.string() }).parse(propertiesOf(service, type)[0]?.[setting]);
      return Object.keys(JSON.parse(Format));
    };
    expect(formatOf("AWS::ApiGateway::Stage", "AccessLogSetting")).toEqual(
      formatOf("AWS::ApiGatewayV2::Stage", "AccessLogSettings"),
    );
  });

  test("neither the access log nor an answer of the gateway has AWS's message, which may quote the caller's key", () => {
    const stages = propertiesOf(service, "AWS::ApiGateway::Stage");
    const answers = propertiesOf(service, "AWS::ApiGateway::GatewayResponse");
    expect(JSON.stringify([stages, answers])).not.toMatch(/context\.error\.message/);
  });

  test("API Gateway may invoke each function by one permission for the callers' stage", () => {
    const functions = new Set([...callerRoutes.values()].map((route) => route.function));
    const permissions = propertiesOf(service, "AWS::Lambda::Permission").filter(({ SourceArn }) =>
      JSON.stringify(SourceArn).includes("/callers/*/*"),
    );
    expect(permissions).toHaveLength(functions.size);
  });

  test("an unknown path is 404 not_found, and other answers of the gateway have envelope and headers without a code", () => {
    const answers = propertiesOf(service, "AWS::ApiGateway::GatewayResponse");
    expect(answers).toMatchObject([
      {
        ResponseType: "MISSING_AUTHENTICATION_TOKEN",
        StatusCode: "404",
        ResponseParameters: { "gatewayresponse.header.x-error-code": "'not_found'" },
        ResponseTemplates: { "application/json": '{"status":false,"message":"No such resource"}' },
      },
      { ResponseType: "DEFAULT_4XX" },
      { ResponseType: "DEFAULT_5XX" },
      { ResponseType: "THROTTLED" },
    ]);
    const ofEach = {
      "gatewayresponse.header.x-request-id": "context.extendedRequestId",
      "gatewayresponse.header.cache-control": "'no-store'",
      "gatewayresponse.header.strict-transport-security": "'max-age=31536000'",
      "gatewayresponse.header.x-content-type-options": "'nosniff'",
    };
    expect(answers[0]?.ResponseParameters).toMatchObject(ofEach);
    for (const answer of answers.slice(1)) {
      const isThrottled = answer.ResponseType === "THROTTLED";
      expect(answer.ResponseParameters).toEqual({
        ...ofEach,
        ...(isThrottled && { "gatewayresponse.header.retry-after": "'1'" }),
      });
      expect(answer.ResponseTemplates).toEqual({
        "application/json": '{"status":false,"message":"API Gateway answered by itself: $context.error.responseType"}',
      });
    }
  });
});

test("a regional REST API has a web ACL that limits each address, and a private one needs none", () => {
  expect(propertiesOf(rest, "AWS::WAFv2::WebACL")).toMatchObject([
    {
      DefaultAction: { Allow: {} },
      Rules: [
        {
          Action: { Block: {} },
          Statement: { RateBasedStatement: { AggregateKeyType: "IP", Limit: 600, EvaluationWindowSec: 60 } },
        },
      ],
    },
  ]);
  expect(rest.all("AWS::WAFv2::WebACLAssociation")).toHaveLength(1);
  expect(closed.all("AWS::WAFv2::WebACL")).toEqual([]);
});

test("a stage whose callers use the HTTP API has no REST API", () => {
  const { service } = templatesOf("sandbox");
  expect(service.all("AWS::ApiGateway::RestApi")).toEqual([]);
  expect(service.outputs).not.toHaveProperty("OperationsUrl");
  for (const key of callerRoutes.keys()) expect(routesOn(service).has(key), key).toBe(true);
});

test("the domain leads to a regional REST API, and to the others if the callers' API is private", () => {
  const withDomain = (front: object) =>
    templatesOf("prod", { front, domain: { ...aDomain, isOnlyAddress: true } }).service;
  const regional = withDomain({ kind: "rest", callerRanges: ranges });
  expect(regional.outputs.ApiUrl?.Value).toBe("https://events.example.com/v1");
  expect(regional.outputs).toHaveProperty("DomainTarget");
  expect(propertiesOf(regional, "AWS::ApiGateway::RestApi")).toMatchObject([{ DisableExecuteApiEndpoint: true }]);
  expect(propertiesOf(regional, "AWS::ApiGatewayV2::Api")).toMatchObject([{ DisableExecuteApiEndpoint: false }]);
  // The name exists once: CloudFormation cannot make it again before it deletes the one of another API.
  const open = withDomain({ kind: "http" });
  const idsOf = (service: Service) =>
    ["DomainName", "ApiMapping"].map((type) => service.all(`AWS::ApiGatewayV2::${type}`).map(({ id }) => id));
  expect(idsOf(regional)).toEqual(idsOf(open));
  expect(idsOf(open)).toEqual([[expect.any(String)], [expect.any(String)]]);
  expect(propertiesOf(regional, "AWS::ApiGatewayV2::DomainName")).toEqual(
    propertiesOf(open, "AWS::ApiGatewayV2::DomainName"),
  );
  expect(propertiesOf(regional, "AWS::ApiGateway::DomainName")).toEqual([]);
  const [restApi] = regional.all("AWS::ApiGateway::RestApi");
  const [restStage] = regional.all("AWS::ApiGateway::Stage");
  expect(propertiesOf(regional, "AWS::ApiGatewayV2::ApiMapping")).toMatchObject([
    { ApiId: { Ref: restApi?.id }, Stage: { Ref: restStage?.id } },
  ]);
  const [httpApi] = open.all("AWS::ApiGatewayV2::Api");
  expect(propertiesOf(open, "AWS::ApiGatewayV2::ApiMapping")).toMatchObject([{ ApiId: { Ref: httpApi?.id } }]);
  expect(closed.outputs.WebhookUrl?.Value).toBe("https://events.example.com/v1/webhooks/upstream/TOKEN");
  expect(closed.outputs.ApiUrl?.Value).not.toBe("https://events.example.com/v1");
});
