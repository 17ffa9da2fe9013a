import { Annotations, CfnOutput, RemovalPolicy, Stack, type StackProps, Validations } from "aws-cdk-lib";
import {
  // biome-ignore lint/correctness/noUnresolvedImports: It is there, in a file that is too large for Biome to read.
  CfnEIP,
  GatewayVpcEndpointAwsService,
  type IPeer,
  IpAddresses,
  type ISecurityGroup,
  type ISubnet,
  type IVpc,
  NatProvider,
  Peer,
  Port,
  SecurityGroup,
  Subnet,
  type SubnetSelection,
  SubnetType,
  Vpc,
} from "aws-cdk-lib/aws-ec2";
import { Construct } from "constructs";
import type { StageSettings } from "../stage-settings.ts";
import { acknowledge } from "./acknowledge.ts";

type Egress = StageSettings["egress"];
type NatGateways = Extract<Egress, { kind: "nat-gateway" }>;

/** Where functions run that call the upstream or apps. */
export interface FunctionNetwork {
  readonly vpc: IVpc;
  /** Absent if they are the VPC's private subnets. */
  readonly subnets?: SubnetSelection;
  readonly functions: ISecurityGroup;
}

/** Where the functions' calls go, beside AWS and apps on the internet. */
export type Destinations = Pick<StageSettings, "upstreamBaseUrl" | "webhookAllowedCidrs">;

export interface EgressNetworkProps extends StackProps {
  readonly egress: NatGateways;
  readonly destinations: Destinations;
}

/**
 * The network of functions that call the upstream or apps' endpoints: private subnets that route to a NAT gateway with
 * a fixed elastic IP each. DynamoDB has a gateway endpoint, which is free.
 */
export class EgressNetwork extends Stack implements FunctionNetwork {
  readonly vpc: Vpc;
  readonly functions: ISecurityGroup;
  private readonly zones: readonly string[];

  constructor(scope: Construct, id: string, props: EgressNetworkProps) {
    super(scope, id, props);
    const { zones, allocationIds } = props.egress;
    this.zones = zones;
    this.vpc = new Vpc(this, "Vpc", {
      ipAddresses: IpAddresses.cidr("10.60.0.0/20"),
      maxAzs: zones.length,
      natGateways: zones.length,
      natGatewayProvider: NatProvider.gateway({ eipAllocationIds: allocationIds ?? this.elasticIps() }),
      subnetConfiguration: [
        { name: "nat", subnetType: SubnetType.PUBLIC, cidrMask: 26, mapPublicIpOnLaunch: false },
        { name: "functions", subnetType: SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 23 },
      ],
      gatewayEndpoints: { DynamoDb: { service: GatewayVpcEndpointAwsService.DYNAMODB } },
      restrictDefaultSecurityGroup: false,
    });
    this.functions = functionsGroup(this, this.vpc, props.destinations);
    Validations.of(this).acknowledge({
      id: "CloudFormation-Validate::W3010",
      reason: "The stage names its zones: CDK would ask AWS for them, and other zones would replace the subnets",
    });
    acknowledge(this.vpc, "VPC7", "Nothing listens in this VPC; each call that leaves it is in the functions' logs");
  }

  /** CDK would ask AWS for the zones of the region. */
  override get availabilityZones(): string[] {
    return [...this.zones];
  }

  /** Retained when the stack is deleted, because the upstream has whitelisted them. A failed creation leaves none. */
  private elasticIps(): string[] {
    return this.zones.map((_, index) => {
      const address = new CfnEIP(this, `ElasticIp${index + 1}`, { domain: "vpc" });
      address.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
      addEgressIp(this, index + 1, address.ref);
      return address.attrAllocationId;
    });
  }
}

/** Subnets that exist, and the addresses from which calls out of them arrive. */
export interface EgressSubnets {
  readonly vpc: IVpc;
  /** Absent if they are the VPC's private subnets. */
  readonly subnets?: SubnetSelection;
  readonly addresses: readonly string[];
}

export interface ExistingNetworkProps extends EgressSubnets {
  readonly destinations: Destinations;
}

/** Subnets of the company's own VPC. Only the security group is made; it goes when the stage goes. */
export class ExistingNetwork extends Construct implements FunctionNetwork {
  readonly vpc: IVpc;
  readonly subnets?: SubnetSelection;
  readonly functions: ISecurityGroup;

  constructor(scope: Construct, id: string, { vpc, subnets, addresses, destinations }: ExistingNetworkProps) {
    super(scope, id);
    this.vpc = vpc;
    if (subnets) this.subnets = subnets;
    this.functions = functionsGroup(this, vpc, destinations);
    for (const [index, value] of addresses.entries()) addEgressIp(Stack.of(this), index + 1, value);
  }
}

/** The subnets of a stage's settings. */
export const importedSubnets = (
  scope: Construct,
  { vpcId, subnetIds, addresses }: Extract<Egress, { kind: "existing" }>,
): EgressSubnets => ({
  // CDK wants a zone, which is in no template: Lambda takes subnets by their ids.
  vpc: Vpc.fromVpcAttributes(scope, "Vpc", { vpcId, availabilityZones: ["unread"] }),
  subnets: { subnets: subnetIds.map((subnetId) => importedSubnet(scope, subnetId)) },
  addresses,
});

const importedSubnet = (scope: Construct, subnetId: string): ISubnet => {
  const subnet = Subnet.fromSubnetId(scope, subnetId, subnetId);
  Annotations.of(subnet).acknowledgeWarning("@aws-cdk/aws-ec2:noSubnetRouteTableId", "No route table is read");
  return subnet;
};

const functionsGroup = (
  scope: Construct,
  vpc: IVpc,
  { upstreamBaseUrl, webhookAllowedCidrs }: Destinations,
): SecurityGroup => {
  // Never reword these descriptions. A new description of the group replaces the group, which fails because the
  // functions' stack imports its id; a new description of a rule closes the rule for a moment.
  const group = new SecurityGroup(scope, "Functions", {
    vpc,
    description: "Functions that call out: HTTPS, and what the stage allows inside",
    allowAllOutbound: false,
  });
  group.addEgressRule(Peer.anyIpv4(), Port.tcp(443), "HTTPS to AWS, the upstream and apps");
  // The port of https is no part of a parsed URL. By any address: the upstream's may change.
  const { port } = new URL(upstreamBaseUrl);
  if (port !== "") group.addEgressRule(Peer.anyIpv4(), Port.tcp(Number(port)), "The upstream, at the port of its URL");
  for (const range of webhookAllowedCidrs) {
    group.addEgressRule(peerOf(range), Port.allTcp(), "Apps inside, named in stages.ts");
  }
  return group;
};

const addEgressIp = (stack: Stack, number: number, value: string): void => {
  new CfnOutput(stack, `EgressIp${number}`, { value, description: "Give this address to the upstream" });
};

/** A peer of a range; in the settings a single address has no prefix length. */
const peerOf = (range: string): IPeer => {
  const [bits, family] = range.includes(":") ? [128, Peer.ipv6] : [32, Peer.ipv4];
  return family(range.includes("/") ? range : `${range}/${bits}`);
};
