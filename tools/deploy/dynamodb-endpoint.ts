import { SettingsError } from "../../infra/settings-error.ts";
import type { StageSettings } from "../../infra/stage-settings.ts";
import { askEc2, textsIn } from "../aws/ec2.ts";

/**
 * Refuses subnets of an existing VPC that reach DynamoDB through a NAT gateway. It would forget the functions' idle
 * connections after 350 s, and cost 0.045 USD a GB. The route tables tell, because an account with which subnets are
 * shared may not describe their VPC's endpoints. Sources: AWS, "Troubleshoot NAT gateways"; "Gateway endpoints",
 * routing and shared subnets; "Responsibilities and permissions for owners and participants".
 */
export const assertDynamoDbEndpoint = async (stage: string, { egress, region }: StageSettings): Promise<void> => {
  if (egress.kind !== "existing" || region === undefined) return;
  const { vpcId, subnetIds } = egress;
  const service = `com.amazonaws.${region}.dynamodb`;
  const lists = await askEc2("DescribePrefixLists", region, { "prefix-list-name": service });
  const [prefixList] = textsIn(lists, "prefixListId");
  for (const subnetId of subnetIds) {
    const table = await routeTableOf(subnetId, vpcId, region);
    if (prefixList !== undefined && leadsToEndpoint(table, prefixList)) continue;
    const command = `create-vpc-endpoint --vpc-id ${vpcId} --service-name ${service} --route-table-ids ${textsIn(table, "routeTableId")[0]}`;
    throw new SettingsError(
      `Stage "${stage}" uses ${subnetId} (egress in stages.ts), whose route table has no gateway endpoint of DynamoDB. Run first, in the account of the VPC: aws ec2 ${command} --region ${region}. Nothing was changed.`,
    );
  }
};

/** Whether a route sends what is for these addresses to a gateway endpoint: its `<item>` contains no other. */
const leadsToEndpoint = (xml: string, prefixList: string): boolean =>
  xml
    .split(/<\/?item>/)
    .some(
      (route) =>
        textsIn(route, "destinationPrefixListId").includes(prefixList) &&
        textsIn(route, "gatewayId").some((target) => target.startsWith("vpce-")),
    );

/** The route table of a subnet: its own, or else the VPC's main one. Source: AWS, "Subnet route tables". */
const routeTableOf = async (subnetId: string, vpcId: string, region: string): Promise<string> => {
  const own = await askEc2("DescribeRouteTables", region, { "association.subnet-id": subnetId });
  if (textsIn(own, "routeTableId").length > 0) return own;
  const main = await askEc2("DescribeRouteTables", region, { "vpc-id": vpcId, "association.main": "true" });
  if (textsIn(main, "routeTableId").length > 0) return main;
  throw new SettingsError(`AWS EC2 knows no VPC ${vpcId} in ${region}. Nothing was changed.`);
};
