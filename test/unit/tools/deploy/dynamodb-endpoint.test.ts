import { afterAll, beforeEach, expect, test } from "vitest";
import { SettingsError } from "../../../../infra/settings-error.ts";
import { type StageSettings, settingsOf } from "../../../../infra/stages.ts";
import { assertDynamoDbEndpoint } from "../../../../tools/deploy/dynamodb-endpoint.ts";
import { type QueryAnswer, type QueryRequest, startFakeAws } from "../../../builders/fake-aws.ts";

/** Goal: no stage is deployed into a VPC in which DynamoDB is reached through a NAT gateway. */

/** The route tables of the VPC by their subnets, and those with a route to an endpoint of DynamoDB. */
let vpc: {
  readonly main?: string;
  readonly own: Readonly<Record<string, string>>;
  readonly endpoint?: readonly string[];
};

const filtersOf = (request: QueryRequest) =>
  Object.fromEntries([1, 2, 3, 4].map((at) => [request[`Filter.${at}.Name`] ?? "", request[`Filter.${at}.Value.1`]]));

const answer = (request: QueryRequest): QueryAnswer | undefined => {
  const filters = filtersOf(request);
  if (request.Action === "DescribeVpcEndpoints") {
    const { "service-name": service, "vpc-endpoint-type": type, "vpc-endpoint-state": state } = filters;
    if (service !== "com.amazonaws.us-east-1.dynamodb" || type !== "Gateway" || state !== "available") return undefined;
    if (filters["vpc-id"] !== "vpc-0a1b2c3d" || vpc.endpoint === undefined) return { result: "<vpcEndpointSet/>" };
    const tables = vpc.endpoint.map((table) => `<item>${table}</item>`).join("");
    return {
      result: `<vpcEndpointSet><item><vpcEndpointId>vpce-01</vpcEndpointId><routeTableIdSet>${tables}</routeTableIdSet></item></vpcEndpointSet>`,
    };
  }
  if (request.Action !== "DescribeRouteTables") return undefined;
  const table = filters["association.main"] === "true" ? vpc.main : vpc.own[filters["association.subnet-id"] ?? ""];
  const item = (id: string) => `<item><routeTableId>${id}</routeTableId><vpcId>vpc-0a1b2c3d</vpcId></item>`;
  return { result: `<routeTableSet>${table === undefined ? "" : item(table)}</routeTableSet>` };
};
const aws = await startFakeAws((request) => answer(request));
afterAll(() => aws.stop());
beforeEach(() => aws.enter({ AWS_ACCESS_KEY_ID: "AKIAENV", AWS_SECRET_ACCESS_KEY: "env", AWS_REGION: "us-east-1" }));

const existing = {
  kind: "existing",
  vpcId: "vpc-0a1b2c3d",
  subnetIds: ["subnet-0a1b2c3d", "subnet-0b1b2c3d"],
  addresses: ["203.0.113.1"],
};
const prodWith = (egress: object): StageSettings => settingsOf("prod", { prod: { ...settingsOf("prod"), egress } });
const check = () => assertDynamoDbEndpoint("prod", prodWith(existing));

test("subnets whose own or main route table has a gateway endpoint of DynamoDB are accepted", async () => {
  vpc = { main: "rtb-0", own: { "subnet-0a1b2c3d": "rtb-1" }, endpoint: ["rtb-0", "rtb-1"] };
  await check();
  expect(new Set(aws.requests.map(({ SigningRegion }) => SigningRegion))).toEqual(new Set(["us-east-1"]));
});

test.each([
  [
    "a VPC without an endpoint",
    { main: "rtb-0", own: {} },
    "subnet-0a1b2c3d",
    "create-vpc-endpoint --vpc-id vpc-0a1b2c3d --service-name com.amazonaws.us-east-1.dynamodb --route-table-ids rtb-0",
  ],
  [
    "a subnet whose own route table has no route to the endpoint",
    { main: "rtb-0", own: { "subnet-0b1b2c3d": "rtb-2" }, endpoint: ["rtb-0"] },
    "subnet-0b1b2c3d",
    "modify-vpc-endpoint --vpc-endpoint-id vpce-01 --add-route-table-ids rtb-2",
  ],
])("%s is refused with the command that adds it", async (_what, network, subnet, command) => {
  vpc = network;
  await expect(check()).rejects.toThrow(
    new SettingsError(
      `Stage "prod" uses ${subnet} (egress in infra/stages.ts), whose route table has no gateway endpoint of DynamoDB. Run first: aws ec2 ${command} --region us-east-1. Nothing was changed.`,
    ),
  );
});

test("a VPC that the account does not have is refused", async () => {
  vpc = { own: {} };
  await expect(check()).rejects.toThrow("AWS EC2 knows no VPC vpc-0a1b2c3d in us-east-1. Nothing was changed.");
});

test("a network of the stage's own, which has the endpoint, is not asked about", async () => {
  await assertDynamoDbEndpoint("prod", prodWith({ kind: "nat-gateway", zones: ["us-east-1a"] }));
  await assertDynamoDbEndpoint("sandbox", settingsOf("sandbox"));
  expect(aws.requests).toEqual([]);
});

test("credentials that may not ask end in one sentence", async () => {
  const denied = await startFakeAws(() => ({ error: "UnauthorizedOperation", message: "not authorized", status: 403 }));
  denied.enter({ AWS_ACCESS_KEY_ID: "AKIAENV", AWS_SECRET_ACCESS_KEY: "env", AWS_REGION: "us-east-1" });
  try {
    await expect(check()).rejects.toThrow(
      new SettingsError("AWS EC2 refuses DescribeVpcEndpoints. UnauthorizedOperation: not authorized"),
    );
  } finally {
    await denied.stop();
  }
});
