import { describe, expect, test } from "vitest";
import { aDomain } from "../../../builders/templates/stage-variants.ts";
import { templatesOf } from "../../../builders/templates/templates.ts";

const withDomain = (changes: object) => templatesOf("prod", { domain: { ...aDomain, ...changes } }).service;
const both = withDomain({});
const only = withDomain({ isOnlyAddress: true });

describe("the domain of a stage", () => {
  const isAwsAddressOff = (service: ReturnType<typeof withDomain>) =>
    service.all("AWS::ApiGatewayV2::Api").map(({ Properties }) => Properties.DisableExecuteApiEndpoint);

  test("a stage with a domain serves both addresses, until the domain is its only one", () => {
    expect(isAwsAddressOff(both)).toEqual([false]);
    expect(isAwsAddressOff(only)).toEqual([true]);
    expect(both.all("AWS::ApiGatewayV2::ApiMapping")).toHaveLength(1);
    expect(both.outputs.ApiUrl?.Value).toBe("https://events.example.com/v1");
    expect(both.outputs).toHaveProperty("DomainTarget");
  });

  test("switching the other address off changes nothing else of a stage with a domain", () => {
    const rest = (service: ReturnType<typeof withDomain>) =>
      service.every.filter(({ Type }) => Type !== "AWS::ApiGatewayV2::Api");
    expect(rest(only)).toEqual(rest(both));
  });
});

test("the access log has a name that is new for each creation of the stack, and its retention from the start", () => {
  const { service } = templatesOf("prod");
  const logs = service.all("AWS::Logs::LogGroup").filter(({ Properties }) => Properties.LogGroupName !== undefined);
  const stackGuid = { "Fn::Select": [2, { "Fn::Split": ["/", { Ref: "AWS::StackId" }] }] };
  expect(logs.map(({ Properties }) => Properties)).toMatchObject([
    {
      LogGroupName: { "Fn::Join": ["", ["/aws/vendedlogs/prod-airtime-access-", stackGuid]] },
      RetentionInDays: 90,
    },
  ]);
});
