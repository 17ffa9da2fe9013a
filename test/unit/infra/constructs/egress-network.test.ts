import { describe, expect, test } from "vitest";
import * as z from "zod";
import { idIn, templatesOf } from "../../../builders/templates.ts";

const { service, network } = templatesOf("prod");
const sandbox = templatesOf("sandbox");

describe("the egress network", () => {
  const inVpc = service.all("AWS::Lambda::Function").filter(({ Properties }) => Properties.VpcConfig !== undefined);

  test("only the four functions that call the upstream or apps are in the VPC", () => {
    const names = inVpc.map(({ Properties }) => Properties.FunctionName);
    expect(new Set(names)).toEqual(
      new Set(
        ["purchase", "check-identity", "refresh-catalog", "deliver-webhook"].map((name) => `prod-airtime-${name}`),
      ),
    );
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

  test("the descriptions of the security group are those of release 0.1.0, because another one replaces the group", () => {
    const own = templatesOf("prod", { webhookAllowedCidrs: ["10.1.0.0/16"] }).network;
    const [group] = own?.all("AWS::EC2::SecurityGroup") ?? [];
    expect(group?.Properties).toMatchObject({
      GroupDescription: "Functions that call out: HTTPS, and what the stage allows inside",
      SecurityGroupEgress: [
        { Description: "HTTPS to AWS, the provider and apps" },
        { Description: "Apps inside, named in infra/stages.ts" },
      ],
    });
  });

  test("a stage that names its elastic IPs uses them and allocates none", () => {
    const allocationIds = ["eipalloc-0aaa", "eipalloc-0bbb"];
    const own = templatesOf("prod", { egress: { kind: "nat-gateway", zones: 2, allocationIds } }).network;
    expect(own?.all("AWS::EC2::EIP")).toEqual([]);
    expect(own?.all("AWS::EC2::NatGateway").map(({ Properties }) => Properties.AllocationId)).toEqual(allocationIds);
  });

  test("the security group allows egress to webhookAllowedCidrs at any port", () => {
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
