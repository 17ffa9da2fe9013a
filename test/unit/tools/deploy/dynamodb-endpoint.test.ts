import { afterAll, beforeEach, expect, test } from "vitest";
import { SettingsError } from "../../../../infra/settings-error.ts";
import { type StageSettings, settingsOf } from "../../../../infra/stage-settings.ts";
import { stages } from "../../../../stages.ts";
import { assertDynamoDbEndpoint } from "../../../../tools/deploy/dynamodb-endpoint.ts";
import { type QueryAnswer, type QueryRequest, startFakeAws } from "../../../builders/aws/fake-aws.ts";

/** Goal: no stage is deployed into a VPC in which DynamoDB is reached through a NAT gateway. */

/** The route tables of the VPC by their subnets, and where each sends what is for DynamoDB. */
let vpc: {
  readonly main?: string;
  readonly own: Readonly<Record<string, string>>;
  readonly routes?: Readonly<Record<string, string>>;
};

const filtersOf = (request: QueryRequest) => ({ [request["Filter.1.Name"] ?? ""]: request["Filter.1.Value.1"] });

/** Of an account with which the VPC's subnets are shared: it may not describe endpoints. */
const answer = (request: QueryRequest): QueryAnswer | undefined => {
  const filters = filtersOf(request);
  if (request.Action === "DescribePrefixLists") {
    if (filters["prefix-list-name"] !== "com.amazonaws.us-east-1.dynamodb") return undefined;
    return { result: "<prefixListSet><item><prefixListId>pl-02cd2c6b</prefixListId></item></prefixListSet>" };
  }
  if (request.Action !== "DescribeRouteTables") return undefined;
  const table = filters["vpc-id"] === undefined ? vpc.own[filters["association.subnet-id"] ?? ""] : vpc.main;
  return { result: `<routeTableSet>${table === undefined ? "" : routeTable(table)}</routeTableSet>` };
};

const routeTable = (id: string): string => {
  const target = vpc.routes?.[id];
  const route = (destination: string, to: string) => `<item>${destination}${to}<state>active</state></item>`;
  const routes = [
    route("<destinationCidrBlock>0.0.0.0/0</destinationCidrBlock>", "<natGatewayId>nat-01</natGatewayId>"),
    route("<destinationPrefixListId>pl-63a5400a</destinationPrefixListId>", "<gatewayId>vpce-s3</gatewayId>"),
    ...(target === undefined ? [] : [route("<destinationPrefixListId>pl-02cd2c6b</destinationPrefixListId>", target)]),
  ].join("");
  return `<item><routeTableId>${id}</routeTableId><vpcId>vpc-0a1b2c3d</vpcId><routeSet>${routes}</routeSet></item>`;
};
const TO_ENDPOINT = "<gatewayId>vpce-01</gatewayId>";
const TO_NAT = "<natGatewayId>nat-01</natGatewayId>";

const aws = await startFakeAws((request) => answer(request));
afterAll(() => aws.stop());
beforeEach(() => aws.enter({ AWS_ACCESS_KEY_ID: "AKIAENV", AWS_SECRET_ACCESS_KEY: "env", AWS_REGION: "us-east-1" }));

const existing = {
  kind: "existing",
  vpcId: "vpc-0a1b2c3d",
  subnetIds: ["subnet-0a1b2c3d", "subnet-0b1b2c3d"],
  addresses: ["203.0.113.1"],
};
const prodWith = (egress: object): StageSettings =>
  settingsOf("prod", { prod: { ...settingsOf("prod", stages), egress } });
const check = () => assertDynamoDbEndpoint("prod", prodWith(existing));

test("subnets whose own or main route table leads to a gateway endpoint of DynamoDB are accepted", async () => {
  vpc = {
    main: "rtb-0",
    own: { "subnet-0a1b2c3d": "rtb-1" },
    routes: { "rtb-0": TO_ENDPOINT, "rtb-1": TO_ENDPOINT },
  };
  await check();
  expect(new Set(aws.requests.map(({ SigningRegion }) => SigningRegion))).toEqual(new Set(["us-east-1"]));
});

test.each([
  ["a VPC without an endpoint", { main: "rtb-0", own: {} }, "subnet-0a1b2c3d", "rtb-0"],
  [
    "a subnet whose own route table does not lead to the endpoint",
    { main: "rtb-0", own: { "subnet-0b1b2c3d": "rtb-2" }, routes: { "rtb-0": TO_ENDPOINT } },
    "subnet-0b1b2c3d",
    "rtb-2",
  ],
  [
    "a subnet that reaches DynamoDB's own addresses through a NAT gateway",
    { main: "rtb-0", own: {}, routes: { "rtb-0": TO_NAT } },
    "subnet-0a1b2c3d",
    "rtb-0",
  ],
])("%s is refused with the command that adds it", async (_what, network, subnet, table) => {
  vpc = network;
  await expect(check()).rejects.toThrow(
    new SettingsError(
      `Stage "prod" uses ${subnet} (egress in stages.ts), whose route table has no gateway endpoint of DynamoDB. Run first, in the account of the VPC: aws ec2 create-vpc-endpoint --vpc-id vpc-0a1b2c3d --service-name com.amazonaws.us-east-1.dynamodb --route-table-ids ${table} --region us-east-1. Nothing was changed.`,
    ),
  );
});

test("a VPC that the account does not have is refused", async () => {
  vpc = { own: {} };
  await expect(check()).rejects.toThrow("AWS EC2 knows no VPC vpc-0a1b2c3d in us-east-1. Nothing was changed.");
});

test("a network of the stage's own, which has the endpoint, is not asked about", async () => {
  await assertDynamoDbEndpoint("prod", prodWith({ kind: "nat-gateway", zones: ["us-east-1a"] }));
  await assertDynamoDbEndpoint("sandbox", settingsOf("sandbox", stages));
  expect(aws.requests).toEqual([]);
});

test("credentials that may not ask end in one sentence", async () => {
  const denied = await startFakeAws(() => ({ error: "UnauthorizedOperation", message: "not authorized", status: 403 }));
  denied.enter({ AWS_ACCESS_KEY_ID: "AKIAENV", AWS_SECRET_ACCESS_KEY: "env", AWS_REGION: "us-east-1" });
  try {
    await expect(check()).rejects.toThrow(
      new SettingsError("AWS EC2 refuses DescribePrefixLists. UnauthorizedOperation: not authorized"),
    );
  } finally {
    await denied.stop();
  }
});
