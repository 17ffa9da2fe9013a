import { CfnOutput, Fn, RemovalPolicy, Stack, type StackProps } from "aws-cdk-lib";
import {
  // biome-ignore lint/correctness/noUnresolvedImports: It is there, in a file that is too large for Biome to read.
  CfnEIP,
  GatewayVpcEndpointAwsService,
  type IPeer,
  IpAddresses,
  NatProvider,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from "aws-cdk-lib/aws-ec2";
import type { Construct } from "constructs";
import type { StageSettings } from "../stages.ts";
import { acknowledge } from "./acknowledge.ts";

type NatGateways = Extract<StageSettings["egress"], { kind: "nat-gateway" }>;

export interface EgressNetworkProps extends StackProps {
  readonly egress: NatGateways;
  readonly webhookAllowedCidrs: readonly string[];
}

const ZONES_MAX = 3;

/**
 * The network of functions that call the upstream or apps' endpoints: private subnets that route to a NAT gateway with
 * a fixed elastic IP each. DynamoDB has a gateway endpoint, which is free.
 */
export class EgressNetwork extends Stack {
  readonly vpc: Vpc;
  readonly functions: SecurityGroup;

  constructor(scope: Construct, id: string, props: EgressNetworkProps) {
    super(scope, id, props);
    const { zones, allocationIds } = props.egress;
    this.vpc = new Vpc(this, "Vpc", {
      ipAddresses: IpAddresses.cidr("10.60.0.0/20"),
      maxAzs: zones,
      natGateways: zones,
      natGatewayProvider: NatProvider.gateway({ eipAllocationIds: allocationIds ?? this.elasticIps(zones) }),
      subnetConfiguration: [
        { name: "nat", subnetType: SubnetType.PUBLIC, cidrMask: 26, mapPublicIpOnLaunch: false },
        { name: "functions", subnetType: SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 23 },
      ],
      gatewayEndpoints: { DynamoDb: { service: GatewayVpcEndpointAwsService.DYNAMODB } },
      restrictDefaultSecurityGroup: false,
    });
    // Never reword these descriptions. A new description of the group replaces the group, which fails because the
    // functions' stack imports its id; a new description of a rule closes the rule for a moment.
    this.functions = new SecurityGroup(this, "Functions", {
      vpc: this.vpc,
      description: "Functions that call out: HTTPS, and what the stage allows inside",
      allowAllOutbound: false,
    });
    this.functions.addEgressRule(Peer.anyIpv4(), Port.tcp(443), "HTTPS to AWS, the provider and apps");
    for (const range of props.webhookAllowedCidrs) {
      this.functions.addEgressRule(peerOf(range), Port.allTcp(), "Apps inside, named in infra/stages.ts");
    }
    acknowledge(this.vpc, "VPC7", "Nothing listens in this VPC; each call that leaves it is in the functions' logs");
  }

  /** Zones by their index in the region, so that a synthesis does not call AWS. */
  override get availabilityZones(): string[] {
    return Array.from({ length: ZONES_MAX }, (_, index) => Fn.select(index, Fn.getAzs()));
  }

  /** Retained when the stack is deleted, because the upstream has whitelisted them. A failed creation leaves none. */
  private elasticIps(zones: number): string[] {
    return Array.from({ length: zones }, (_, index) => {
      const address = new CfnEIP(this, `ElasticIp${index + 1}`, { domain: "vpc" });
      address.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
      new CfnOutput(this, `EgressIp${index + 1}`, {
        value: address.ref,
        description: "Give this address to the upstream",
      });
      return address.attrAllocationId;
    });
  }
}

/** A peer of a range; in the settings a single address has no prefix length. */
const peerOf = (range: string): IPeer => {
  const [bits, family] = range.includes(":") ? [128, Peer.ipv6] : [32, Peer.ipv4];
  return family(range.includes("/") ? range : `${range}/${bits}`);
};
