import { describe, expect, test } from "vitest";
import * as z from "#zod";
import { consoleRoutes, operatorRoutes } from "../../../../infra/console-routes.ts";
import { consoleFunctions } from "../../../../infra/functions.ts";
import { scheduledFunctions } from "../../../../infra/schedules.ts";
import { routeKey } from "../../../../shared/contract/route.ts";
import { aConsole } from "../../../builders/templates/console.ts";
import { stageVariants } from "../../../builders/templates/stage-variants.ts";
import { idIn, type Resource, templatesOf } from "../../../builders/templates/templates.ts";

/** Goal: the setting `console` of a stage adds the console and changes nothing else. */
const bare = templatesOf("prod");
const { service, data, network } = templatesOf("prod", { console: aConsole });
const added = service.every.filter(({ id }) => !bare.service.every.some((known) => known.id === id));

const ofType = (type: string): readonly Resource[] => added.filter(({ Type }) => Type === type);

const policyDocument = z.looseObject({ Statement: z.array(z.unknown()) });

describe("a stage without a console", () => {
  test("a stage without a console has console-api for operators, and nothing else of a console", () => {
    const outputs = Object.keys(bare.service.outputs);
    const own = [...bare.service.every.map(({ id }) => id), ...outputs].filter((id) => /console/i.test(id));
    expect(own.filter((id) => !/ConsoleApi|consolefailed/.test(id))).toEqual([]);
    const routes = JSON.stringify(bare.service.all("AWS::ApiGatewayV2::Route"));
    expect(routes).not.toMatch(/ \/console/);
    for (const { Properties } of bare.service.all("AWS::Lambda::Function")) {
      expect(consoleFunctions.some((name) => Properties.FunctionName === `prod-airtime-${name}`)).toBe(false);
    }
    expect(bare.service.all("AWS::ApiGatewayV2::Authorizer")).toEqual([]);
  });

  /** Properties that list the parts of the whole service. */
  const lists: Readonly<Record<string, string>> = {
    "AWS::ApiGatewayV2::Stage": "RouteSettings",
    "AWS::CloudWatch::Dashboard": "DashboardBody",
    "AWS::Logs::MetricFilter": "FilterPattern",
  };
  const withoutList = ({ DependsOn: _, ...resource }: Resource) => ({
    ...resource,
    Properties: { ...resource.Properties, [lists[resource.Type] ?? ""]: undefined },
  });
  /** Operators' actions subscribe people to the topic, and a queue keeps failed runs of the schedule. */
  const withoutNotifications = (resource: Resource): Resource => {
    if (!["AWS::IAM::Policy", "AWS::SQS::QueuePolicy"].includes(resource.Type)) return resource;
    const { Statement, ...document } = policyDocument.parse(resource.Properties.PolicyDocument);
    const others = Statement.filter((statement) => !/"sns:|SendNotifications/.test(JSON.stringify(statement)));
    return { ...resource, Properties: { ...resource.Properties, PolicyDocument: { ...document, Statement: others } } };
  };
  const withoutSettings = (resources: readonly Resource[]) =>
    resources
      .map(withoutNotifications)
      .map((resource) =>
        ["prod-airtime-console-api", "prod-airtime-reconcile-statement", "prod-airtime-answer-subjects"].includes(
          String(resource.Properties.FunctionName),
        )
          ? { ...resource, Properties: { ...resource.Properties, Environment: undefined } }
          : resource,
      );

  test("a console changes no other resource of the stage, except limits and filters of routes, the dashboard, and how people sign in", () => {
    const kept = service.every.filter((resource) => !added.includes(resource));
    const listed = kept.filter(({ Type }) => Object.hasOwn(lists, Type));
    const same = (resources: readonly Resource[]) => resources.filter(({ Type }) => !Object.hasOwn(lists, Type));
    expect(withoutSettings(same(kept))).toEqual(withoutSettings(same(bare.service.every)));
    expect(listed.map(withoutList)).toEqual(
      bare.service.every.filter(({ Type }) => Object.hasOwn(lists, Type)).map(withoutList),
    );
    expect({ data: data.every, network: network?.every }).toEqual({
      data: bare.data.every,
      network: bare.network?.every,
    });
    const { Console: _settings, ConsoleUrl: _url, NotificationsTopicArn: _topic, ...others } = service.outputs;
    expect(others).toEqual(bare.service.outputs);
  });
});

describe("the console of a stage", () => {
  test("the console adds its functions, its routes, one authorizer, and what each function has", () => {
    const counts = Object.fromEntries(
      [...new Set(added.map(({ Type }) => Type))].map((type) => [type, ofType(type).length]),
    );
    const functions = consoleFunctions.length;
    const schedules = scheduledFunctions.filter((name) => consoleFunctions.includes(name));
    expect(counts).toMatchObject({
      "AWS::Lambda::Function": functions,
      "AWS::IAM::Role": functions,
      "AWS::IAM::Policy": functions,
      "AWS::Logs::LogGroup": functions,
      "AWS::ApiGatewayV2::Route": consoleRoutes.length,
      "AWS::Lambda::Permission": consoleRoutes.length + schedules.length,
      "AWS::Events::Rule": schedules.length,
      "AWS::SNS::Topic": 1,
      "AWS::ApiGatewayV2::Authorizer": 1,
      "AWS::Logs::MetricFilter": 1,
    });
  });

  test("API Gateway verifies a token of the stage's provider, as it is written there, for the stage's client", () => {
    const [authorizer] = service.all("AWS::ApiGatewayV2::Authorizer");
    expect(authorizer?.Properties).toMatchObject({
      AuthorizerType: "JWT",
      IdentitySource: ["$request.header.Authorization"],
      JwtConfiguration: { Issuer: aConsole.issuer, Audience: [aConsole.clientId] },
    });
  });

  test("every route to a function of actions needs a token or a signature, and no other route of the service does", () => {
    const protectedBy = ({ all }: typeof service, type: string) =>
      all("AWS::ApiGatewayV2::Route")
        .filter(({ Properties }) => Properties.AuthorizationType === type)
        .map(({ Properties }) => Properties.RouteKey);
    const signed = [
      "GET /operations/{role}/{path+}",
      "POST /operations/{role}/{path+}",
      "GET /operations/{role}/reconciliation/{subject}/{verb}",
      "POST /operations/{role}/reconciliation/{subject}/{verb}",
      "POST /operations/{role}/subjects/{verb}",
    ];
    for (const stage of [service, bare.service]) expect(protectedBy(stage, "AWS_IAM")).toEqual(signed);
    expect(operatorRoutes.map(routeKey)).toEqual(signed);
    const protectedKeys = service
      .all("AWS::ApiGatewayV2::Route")
      .filter(({ Properties }) => Properties.AuthorizationType === "JWT")
      .map(({ Properties }) => {
        expect(service.get(idIn(Properties.AuthorizerId)).Type).toBe("AWS::ApiGatewayV2::Authorizer");
        return z.string().parse(Properties.RouteKey);
      });
    expect(protectedKeys.toSorted()).toEqual([
      "GET /console-api/reconciliation/{subject}/{verb}",
      "GET /console-api/{path+}",
      "POST /console-api/reconciliation/{subject}/{verb}",
      "POST /console-api/subjects/{verb}",
      "POST /console-api/{path+}",
    ]);
    expect(
      consoleRoutes
        .filter((route) => route.function !== "serve-console")
        .map(routeKey)
        .toSorted(),
    ).toEqual(protectedKeys.toSorted());
  });

  test("more than 10 refused actions in 5 minutes raise an alarm, and only the routes of actions count", () => {
    const [filter] = ofType("AWS::Logs::MetricFilter");
    expect(filter?.Properties.FilterPattern).toBe(
      '{ ($.status = "403") && (($.route = "GET /console-api/{path+}") || ($.route = "POST /console-api/{path+}") || ' +
        '($.route = "GET /console-api/reconciliation/{subject}/{verb}") || ' +
        '($.route = "POST /console-api/reconciliation/{subject}/{verb}") || ' +
        '($.route = "POST /console-api/subjects/{verb}")) }',
    );
    const [alarm, ...others] = ofType("AWS::CloudWatch::Alarm").filter(
      ({ Properties }) => Properties.MetricName === "ConsoleRefusals-prod",
    );
    expect(others).toEqual([]);
    expect(alarm?.Properties).toMatchObject({ Threshold: 10, Period: 300, TreatMissingData: "notBreaching" });
  });

  test.each([
    ["its API's own address", service, /^\{"Fn::Join":.*\/console"\]\]\}$/],
    [
      "its domain",
      templatesOf("prod", stageVariants["every setting, in an existing VPC"]?.[1]).service,
      /^"https:\/\/api\.example\.com\/console"$/,
    ],
  ])("an output has the URL of the console at %s", (_, { outputs }, url) => {
    expect(JSON.stringify(outputs.ConsoleUrl?.Value)).toMatch(url);
  });

  test("a canary of the stage leaves the functions of the console alone: each new version gets all requests at once", () => {
    const aliases = ofType("AWS::Lambda::Alias").concat(ofType("AWS::CodeDeploy::DeploymentGroup"));
    expect(aliases).toEqual([]);
  });
});
