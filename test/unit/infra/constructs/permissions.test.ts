import { describe, expect, test } from "vitest";
import * as z from "zod";
import { type FunctionSpec, functionNames, functionSpecs } from "../../../../infra/functions.ts";
import { functionEnvironments } from "../../../../shared/platform/env.ts";
import { idIn, type Resource, templatesOf } from "../../../builders/templates.ts";

const { service, data, network } = templatesOf("prod");
const sandbox = templatesOf("sandbox");

const oneOrMore = z.union([z.array(z.unknown()), z.unknown().transform((one) => [one])]);
const statement = z.object({
  Effect: z.string(),
  Action: oneOrMore.pipe(z.array(z.string())),
  Resource: oneOrMore.optional(),
  Principal: z.unknown().optional(),
});
const document = z.object({ Statement: z.array(statement) });

const statementsOf = ({ Properties }: Resource) => document.parse(Properties.PolicyDocument).Statement;

/** What the function with this name may do, from its role's policy. */
const allowedTo = (name: string) => {
  const own = service
    .all("AWS::Lambda::Function")
    .find(({ Properties }) => Properties.FunctionName === `prod-airtime-${name}`);
  const role = idIn(own?.Properties.Role);
  return service
    .all("AWS::IAM::Policy")
    .filter(({ Properties }) => JSON.stringify(Properties.Roles).includes(`"${role}"`))
    .flatMap(statementsOf);
};

const networkInterfaces = [
  "ec2:AssignPrivateIpAddresses",
  "ec2:CreateNetworkInterface",
  "ec2:DeleteNetworkInterface",
  "ec2:DescribeNetworkInterfaces",
  "ec2:DescribeSubnets",
  "ec2:UnassignPrivateIpAddresses",
];
const egress = functionNames.filter((name) => "egress" in functionSpecs[name]);

/** Everything that may be done to `*`. AWS checks these without naming a resource. */
const wildcards: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(networkInterfaces.map((action) => [action, egress])),
  "dynamodb:ListStreams": ["enqueue-webhooks"],
};

describe("what functions may do", () => {
  test("no statement allows a kind of action, and only named ones are for every resource", () => {
    const found: [string, string][] = [];
    for (const name of functionNames) {
      const statements = allowedTo(name);
      expect(statements.length, name).toBeGreaterThan(0);
      for (const { Effect, Action, Resource = [] } of statements) {
        expect(Effect).toBe("Allow");
        for (const action of Action) {
          expect(action).toMatch(/^[a-z0-9]+:[A-Za-z]+$/);
          if (JSON.stringify(Resource).includes("*")) found.push([action, name]);
        }
      }
    }
    const expected = Object.entries(wildcards).flatMap(([action, names]) => names.map((name) => [action, name]));
    expect(new Set(found.map(String))).toEqual(new Set(expected.map(String)));
  });

  test("no role has a policy of AWS's, and every policy belongs to a function's role", () => {
    for (const stack of [service, data, sandbox.service, sandbox.data]) {
      for (const { Properties } of stack.all("AWS::IAM::Role")) expect(Properties.ManagedPolicyArns).toBeUndefined();
    }
    expect(service.all("AWS::IAM::Role")).toHaveLength(functionNames.length);
    expect(service.all("AWS::IAM::Policy")).toHaveLength(functionNames.length);
  });

  test("whoever else is let in to a queue or the topic is a service of AWS's", () => {
    const policies = [...service.all("AWS::SQS::QueuePolicy"), ...service.all("AWS::SNS::TopicPolicy")];
    const allowed = policies.flatMap(statementsOf).filter(({ Effect }) => Effect === "Allow");
    expect(allowed.length).toBeGreaterThan(0);
    for (const { Principal } of allowed) expect(Principal).toMatchObject({ Service: expect.any(String) });
  });

  test.each(functionNames)("%s reads the secrets that it is told of, and no others", (name) => {
    const told = Object.entries(functionEnvironments).find(([known]) => known === name)?.[1];
    const ids = Object.keys(told?.shape ?? {}).filter((variable) => variable.endsWith("_SECRET_ID"));
    const read = allowedTo(name)
      .filter(({ Action }) => Action.includes("secretsmanager:GetSecretValue"))
      .flatMap(({ Resource = [] }) => Resource);
    expect(read).toHaveLength(ids.length);
  });

  test.each(functionNames)(
    "%s reaches the tables and indexes that it uses, and only in the ways that it does",
    (name) => {
      const { tables = {}, queries = [] }: FunctionSpec = functionSpecs[name];
      const granted = allowedTo(name).filter(({ Action }) => Action.some((action) => action.startsWith("dynamodb:")));
      const onTables = granted.filter(({ Resource }) => /(Access|Ledger|Cache)\w*Arn/.test(JSON.stringify(Resource)));
      for (const [table, actions] of Object.entries(tables)) {
        const logicalName = new RegExp(
          `GetAtt${table.charAt(0).toUpperCase()}${table.slice(1)}[0-9A-F]{8}Arn[0-9A-F]{8}"`,
        );
        const own = onTables.filter(
          ({ Action, Resource }) => !Action.includes("dynamodb:Query") && logicalName.test(JSON.stringify(Resource)),
        );
        expect(own.map(({ Action }) => Action)).toEqual([actions.map((action) => `dynamodb:${action}`)]);
      }
      const indexes = granted
        .filter(({ Action }) => Action.includes("dynamodb:Query"))
        .flatMap(({ Resource = [] }) => Resource);
      expect(indexes).toHaveLength(queries.length);
      for (const index of queries) expect(JSON.stringify(indexes)).toContain(`/index/${index}"`);
    },
  );
});

describe("the way out", () => {
  const inVpc = service.all("AWS::Lambda::Function").filter(({ Properties }) => Properties.VpcConfig !== undefined);

  test("only the four functions that call out are in the VPC", () => {
    const names = inVpc.map(({ Properties }) => Properties.FunctionName);
    expect(new Set(names)).toEqual(
      new Set(
        ["purchase", "check-identity", "refresh-catalog", "deliver-webhook"].map((name) => `prod-airtime-${name}`),
      ),
    );
  });

  test("their subnets lead nowhere but to NAT gateways, each with an elastic IP", () => {
    if (network === undefined) throw new Error("prod has no network");
    const gateways = network.all("AWS::EC2::NatGateway");
    expect(gateways).toHaveLength(2);
    const addresses = gateways.map(({ Properties }) => network.get(idIn(Properties.AllocationId)));
    expect(new Set(addresses.map(({ id }) => id)).size).toBe(2);
    for (const address of addresses) {
      expect(address).toMatchObject({ Type: "AWS::EC2::EIP", DeletionPolicy: "RetainExceptOnCreate" });
    }

    const subnets = z.object({ SubnetIds: z.array(z.object({ "Fn::ImportValue": z.string() })) });
    const used = inVpc.flatMap(({ Properties }) => subnets.parse(Properties.VpcConfig).SubnetIds);
    const imported = [...new Set(used.map((one) => one["Fn::ImportValue"]))];
    const routeTables = network.all("AWS::EC2::SubnetRouteTableAssociation").filter(({ Properties }) => {
      const subnet = idIn(Properties.SubnetId);
      return imported.some((name) => name.includes(subnet));
    });
    expect(routeTables).toHaveLength(2);
    for (const { Properties } of routeTables) {
      const table = idIn(Properties.RouteTableId);
      const routes = network.all("AWS::EC2::Route").filter((route) => idIn(route.Properties.RouteTableId) === table);
      expect(routes).toHaveLength(1);
      expect(gateways.map(({ id }) => id)).toContain(idIn(routes[0]?.Properties.NatGatewayId));
    }
  });

  test("nothing is let in, HTTPS alone is let out, and DynamoDB is reached inside", () => {
    const groups = network?.all("AWS::EC2::SecurityGroup") ?? [];
    expect(groups).toHaveLength(1);
    expect(groups[0]?.Properties.SecurityGroupIngress).toBeUndefined();
    expect(groups[0]?.Properties.SecurityGroupEgress).toEqual([
      expect.objectContaining({ CidrIp: "0.0.0.0/0", IpProtocol: "tcp", FromPort: 443, ToPort: 443 }),
    ]);
    const endpoints = network?.all("AWS::EC2::VPCEndpoint") ?? [];
    expect(endpoints.map(({ Properties }) => JSON.stringify(Properties.ServiceName))).toEqual([
      expect.stringContaining("dynamodb"),
    ]);
  });

  test("elastic IPs that are brought along are used, and none is made", () => {
    const allocationIds = ["eipalloc-0aaa", "eipalloc-0bbb"];
    const own = templatesOf("prod", { egress: { kind: "nat-gateway", zones: 2, allocationIds } }).network;
    expect(own?.all("AWS::EC2::EIP")).toEqual([]);
    expect(own?.all("AWS::EC2::NatGateway").map(({ Properties }) => Properties.AllocationId)).toEqual(allocationIds);
  });

  test("ranges inside are let out to, at any port", () => {
    const own = templatesOf("prod", { webhookAllowedCidrs: ["10.1.0.0/16", "10.2.0.7", "fd00::/8"] }).network;
    const [group] = own?.all("AWS::EC2::SecurityGroup") ?? [];
    expect(JSON.stringify(group?.Properties.SecurityGroupEgress)).toMatch(
      /10\.1\.0\.0\/16.*10\.2\.0\.7\/32.*fd00::\/8/,
    );
  });

  test("the sandbox has no VPC, no NAT gateway and no address", () => {
    expect(sandbox.network).toBeUndefined();
    const types = [...sandbox.service.every, ...sandbox.data.every].map(({ Type }) => Type);
    expect(types).toContain("AWS::Lambda::Function");
    expect(types.filter((type) => type.startsWith("AWS::EC2::"))).toEqual([]);
    for (const { Properties } of sandbox.service.all("AWS::Lambda::Function")) {
      expect(Properties.VpcConfig).toBeUndefined();
    }
  });
});
