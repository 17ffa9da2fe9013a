import { SettingsError } from "../../infra/settings-error.ts";
import type { StageSettings } from "../../infra/stages.ts";
import { askEc2, textsIn } from "../aws/ec2.ts";

/**
 * Refuses subnets of an existing VPC that reach DynamoDB through a NAT gateway. It would forget the functions' idle
 * connections after 350 s, and cost 0.045 USD a GB. Sources: AWS, "Troubleshoot NAT gateways"; "Gateway endpoints for
 * Amazon DynamoDB".
 */
export const assertDynamoDbEndpoint = async (stage: string, { egress, region }: StageSettings): Promise<void> => {
  if (egress.kind !== "existing" || region === undefined) return;
  const { vpcId, subnetIds } = egress;
  const service = `com.amazonaws.${region}.dynamodb`;
  const endpoints = await askEc2("DescribeVpcEndpoints", region, {
    "vpc-id": vpcId,
    "service-name": service,
    "vpc-endpoint-type": "Gateway",
    "vpc-endpoint-state": "available",
  });
  const withEndpoint = textsIn(endpoints, "item");
  for (const subnetId of subnetIds) {
    const table = await routeTableOf(subnetId, vpcId, region);
    if (withEndpoint.includes(table)) continue;
    const [endpoint] = textsIn(endpoints, "vpcEndpointId");
    const command =
      endpoint === undefined
        ? `create-vpc-endpoint --vpc-id ${vpcId} --service-name ${service} --route-table-ids ${table}`
        : `modify-vpc-endpoint --vpc-endpoint-id ${endpoint} --add-route-table-ids ${table}`;
    throw new SettingsError(
      `Stage "${stage}" uses ${subnetId} (egress in infra/stages.ts), whose route table has no gateway endpoint of DynamoDB. Run first: aws ec2 ${command} --region ${region}. Nothing was changed.`,
    );
  }
};

/** Its own, or else the VPC's main one. Source: AWS, "Subnet route tables". */
const routeTableOf = async (subnetId: string, vpcId: string, region: string): Promise<string> => {
  const ask = async (filters: Readonly<Record<string, string>>): Promise<string | undefined> =>
    textsIn(await askEc2("DescribeRouteTables", region, filters), "routeTableId")[0];
  const own = await ask({ "association.subnet-id": subnetId });
  const found = own ?? (await ask({ "vpc-id": vpcId, "association.main": "true" }));
  if (found === undefined) throw new SettingsError(`AWS EC2 knows no VPC ${vpcId} in ${region}. Nothing was changed.`);
  return found;
};
