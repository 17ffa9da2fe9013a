import { CloudFormationValidatePlugin, Validations } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { describe, expect, test, vi } from "vitest";
import * as z from "#zod";
import { type Destinations, EgressNetwork } from "../../../../infra/constructs/egress-network.ts";
import { unbundledApp } from "../../../../infra/constructs/unbundled-app.ts";
import { everyFunction } from "../../../builders/templates/console.ts";
import { stageVariants } from "../../../builders/templates/stage-variants.ts";
import {
  idIn,
  readTemplate,
  type StackTemplate,
  stackTemplates,
  templatesOf,
} from "../../../builders/templates/templates.ts";

const { service, network } = templatesOf("prod", everyFunction);
const sandbox = templatesOf("sandbox");

/** The network alone, whose synthesis takes a hundredth of the stage's. */
const networkOf = (
  {
    allocationIds,
    zones = ["us-east-1a", "us-east-1b"],
    upstreamBaseUrl = "https://upstream.example.com/v1",
    webhookAllowedCidrs = [],
  }: Partial<Destinations> & { readonly zones?: string[]; readonly allocationIds?: string[] },
  app = unbundledApp(),
) => {
  const stack = new EgressNetwork(app, "Network", {
    env: { account: "111122223333", region: "us-east-1" },
    egress: { kind: "nat-gateway", zones, allocationIds },
    destinations: { upstreamBaseUrl, webhookAllowedCidrs },
  });
  return readTemplate(Template.fromStack(stack).toJSON());
};
/** What the functions of a network may reach. */
const egressIn = (template: StackTemplate | undefined) =>
  template?.all("AWS::EC2::SecurityGroup")[0]?.Properties.SecurityGroupEgress;

describe("the egress network", () => {
  const inVpc = service.all("AWS::Lambda::Function").filter(({ Properties }) => Properties.VpcConfig !== undefined);

  test("only the eight functions that call the upstream, apps or chats are in the VPC", () => {
    const names = inVpc.map(({ Properties }) => Properties.FunctionName);
    expect(new Set(names)).toEqual(
      new Set(
        [
          "purchase",
          "check-identity",
          "refresh-catalog",
          "deliver-webhook",
          "send-notifications",
          "send-queued-orders",
          "ask-upstream",
          "console-api",
        ].map((name) => `prod-airtime-${name}`),
      ),
    );
  });

  test("a stage that names the addresses that it made keeps everything else, because CloudFormation compares the values of references", () => {
    const allocationIds = ["eipalloc-0a1b2c3d", "eipalloc-0a1b2c3e"];
    const named = networkOf({ allocationIds });
    const others = ({ every }: StackTemplate) =>
      every
        .filter(({ Type }) => Type !== "AWS::EC2::EIP")
        .map(({ Properties: { AllocationId: _, ...rest }, ...resource }) => ({ ...resource, rest }));
    expect(others(named)).toEqual(others(networkOf({})));
    expect(named.all("AWS::EC2::EIP")).toEqual([]);
    const gateways = named.all("AWS::EC2::NatGateway");
    expect(gateways.map(({ Properties }) => Properties.AllocationId)).toEqual(allocationIds);
  });

  test("the functions' subnets route to NAT gateways only, each with an elastic IP", () => {
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

  test("the security group allows no ingress and only HTTPS as egress, and DynamoDB has a gateway endpoint", () => {
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

  test.each([
    ["https://upstream.example.com:8443/v1", [443, 8443]],
    ["https://upstream.example.com:443/v1", [443]],
  ])("the security group lets the functions reach an upstream at %s", (upstreamBaseUrl, ports) => {
    expect(egressIn(networkOf({ upstreamBaseUrl }))).toEqual(
      ports.map((port) => expect.objectContaining({ CidrIp: "0.0.0.0/0", FromPort: port, ToPort: port })),
    );
  });

  test("a security group with the most ranges and an upstream at a port of its own has the 60 rules that AWS allows", () => {
    const webhookAllowedCidrs = Array.from({ length: 58 }, (_, index) => `10.${index}.0.0/16`);
    const upstreamBaseUrl = "https://upstream.example.com:8443/v1";
    expect(egressIn(networkOf({ upstreamBaseUrl, webhookAllowedCidrs }))).toHaveLength(60);
  });

  test("a stage has its zones, and its own destinations in a group whose descriptions stay: another one replaces the group", () => {
    const zones = ["us-east-1b", "us-east-1d"];
    const own = networkOf({
      zones,
      upstreamBaseUrl: "https://upstream.example.com:8443/v1",
      webhookAllowedCidrs: ["10.1.0.0/16", "10.2.0.7", "fd00::/8"],
    });
    const placed = own.all("AWS::EC2::Subnet").map(({ Properties }) => Properties.AvailabilityZone);
    expect(placed).toEqual([...zones, ...zones]);
    const [group] = own.all("AWS::EC2::SecurityGroup");
    const inside = { IpProtocol: "tcp", FromPort: 0, ToPort: 65_535, Description: "Apps inside, named in stages.ts" };
    expect(group?.Properties).toMatchObject({
      GroupDescription: "Functions that call out: HTTPS, and what the stage allows inside",
      SecurityGroupEgress: [
        { ToPort: 443, Description: "HTTPS to AWS, the upstream and apps" },
        { ToPort: 8_443 },
        { ...inside, CidrIp: "10.1.0.0/16" },
        { ...inside, CidrIp: "10.2.0.7/32" },
        { ...inside, CidrIpv6: "fd00::/8" },
      ],
    });
  });

  test("CDK's own validation prints no warning about named zones", () => {
    const printed = vi.spyOn(console, "error").mockReturnValue();
    const app = unbundledApp();
    // What it reports of this network. To load its rules, which are those of cfn-lint, takes 3 s.
    const named = { ruleName: "W3010", description: "Avoid hardcoding the zone", severity: "warning" };
    const subnet = { constructPath: "Network/Vpc/natSubnet1/Subnet", locations: [] };
    Validations.of(app).addPlugins({
      name: CloudFormationValidatePlugin.PLUGIN_NAME,
      validate: () => ({ success: true, violations: [{ ...named, violatingResources: [subnet] }] }),
    });
    networkOf({}, app);
    expect(printed.mock.calls).toEqual([]);
  });

  test.each(Object.entries(stageVariants))(
    "no template of %s counts the zones of a region",
    (_name, [stage, changes]) => {
      for (const [, template] of stackTemplates(stage, changes)) {
        expect(JSON.stringify(template)).not.toContain("Fn::GetAZs");
      }
    },
  );

  test("another zone only adds resources, so that a zone can be given up and taken again", () => {
    const resources = (count: number) =>
      networkOf({ zones: ["us-east-1a", "us-east-1b", "us-east-1c"].slice(0, count) }).every;
    // The endpoint of DynamoDB and nothing else names the routes of all zones.
    const comparable = (zones: number) => resources(zones).filter(({ Type }) => Type !== "AWS::EC2::VPCEndpoint");
    for (const zones of [1, 2]) expect(comparable(zones + 1)).toEqual(expect.arrayContaining(comparable(zones)));
    expect(resources(3).length).toBeGreaterThan(resources(2).length);
  });

  test("an existing VPC is used with its subnets and addresses, and only a security group is made in it", () => {
    const own = templatesOf("prod", stageVariants["every setting, in an existing VPC"]?.[1]);
    expect(own.network).toBeUndefined();
    const made = own.service.every.filter(({ Type }) => Type.startsWith("AWS::EC2::"));
    expect(made).toMatchObject([
      {
        Type: "AWS::EC2::SecurityGroup",
        Properties: {
          VpcId: "vpc-0a1b2c3d",
          SecurityGroupEgress: [{ ToPort: 443 }, { CidrIp: "10.0.0.0/8" }, { CidrIpv6: "fd00::/8" }],
        },
      },
    ]);
    const [group] = made;
    const placed = own.service.all("AWS::Lambda::Function").filter(({ Properties }) => Properties.VpcConfig);
    expect(placed).toHaveLength(inVpc.length);
    for (const { Properties } of placed) {
      expect(Properties.VpcConfig).toEqual({
        SubnetIds: ["subnet-0a1b2c3d", "subnet-0a1b2c3e"],
        SecurityGroupIds: [{ "Fn::GetAtt": [group?.id, "GroupId"] }],
      });
    }
    const { EgressIp1, EgressIp2 } = own.service.outputs;
    expect([EgressIp1?.Value, EgressIp2?.Value]).toEqual(["203.0.113.1", "203.0.113.2"]);
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
