import { CfnOutput, Fn, RemovalPolicy, Stack, type StackProps } from "aws-cdk-lib";
import {
  CfnEIP,
  GatewayVpcEndpointAwsService,
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

type NatGateways = Extract<StageSettings["egress"], { kind: "nat-gateway" }>;

export interface EgressNetworkProps extends StackProps {
  readonly egress: NatGateways;
  readonly webhookAllowedCidrs: readonly string[];
}

/**
 * The way out for functions that call the provider and apps' endpoints: private subnets whose only path is a NAT gateway with a fixed
 * elastic IP each. DynamoDB is reached through a gateway endpoint, which costs nothing.
 */
export class EgressNetwork extends Stack {
  readonly vpc: Vpc;
  readonly functions: SecurityGroup;

  constructor(scope: Construct, id: string, props: EgressNetworkProps) {
    super(scope, id, props);
    const { zones, allocationIds } = props.egress;
    this.vpc = new Vpc(this, "Vpc", {
      ipAddresses: IpAddresses.cidr("10.60.0.0/20"),
      availabilityZones: Array.from({ length: zones }, (_, index) => Fn.select(index, Fn.getAzs())),
      natGateways: zones,
      natGatewayProvider: NatProvider.gateway({ eipAllocationIds: allocationIds ?? this.elasticIps(zones) }),
      subnetConfiguration: [
        { name: "nat", subnetType: SubnetType.PUBLIC, cidrMask: 26, mapPublicIpOnLaunch: false },
        { name: "functions", subnetType: SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 23 },
      ],
      gatewayEndpoints: { DynamoDb: { service: GatewayVpcEndpointAwsService.DYNAMODB } },
      restrictDefaultSecurityGroup: false,
    });
    this.functions = new SecurityGroup(this, "Functions", {
      vpc: this.vpc,
      description: "Functions that call out: HTTPS, and what the stage allows inside",
      allowAllOutbound: false,
    });
    this.functions.addEgressRule(Peer.anyIpv4(), Port.tcp(443), "HTTPS to AWS, the provider and apps");
    for (const cidr of props.webhookAllowedCidrs) {
      this.functions.addEgressRule(Peer.ipv4(cidr), Port.allTcp(), "Apps inside, named in infra/stages.ts");
    }
  }

  /** Kept when the stack goes: the provider has whitelisted them. A creation that fails leaves none behind. */
  private elasticIps(zones: number): string[] {
    return Array.from({ length: zones }, (_, index) => {
      const address = new CfnEIP(this, `ElasticIp${index + 1}`, { domain: "vpc" });
      address.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
      new CfnOutput(this, `EgressIp${index + 1}`, { value: address.ref, description: "Give this address to the upstream" });
      return address.attrAllocationId;
    });
  }
}
