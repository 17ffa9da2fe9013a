import { type App, PermissionsBoundary, Tags, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { stackName } from "../outputs.ts";
import { type StageSettings, sells } from "../stages.ts";
import { Administrator } from "./administrator.ts";
import { Data } from "./data.ts";
import { EgressNetwork } from "./egress-network.ts";
import { Recovery } from "./recovery.ts";
import { Service } from "./service.ts";

/**
 * The stacks of one stage: data, egress network, service, recovery in another region, and what only an administrator
 * deploys. They belong to the stage's account and region, if it names them; the CDK then deploys them there or not at all.
 */
export const addStage = (app: App, stage: string, settings: StageSettings) => {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const { account, region, egress, webhookAllowedCidrs, adopt, recovery: copies } = settings;
  const { costCentre, permissionsBoundary: boundary } = settings;
  const tags = { service: "airtime", stage, ...(costCentre !== undefined && { "cost-centre": costCentre }) };
  for (const [name, value] of Object.entries(tags)) Tags.of(app).add(name, value);
  const terminationProtection = sells(settings);
  const place = account !== undefined && region !== undefined ? { env: { account, region } } : {};
  const common = {
    ...place,
    ...(boundary !== undefined && { permissionsBoundary: PermissionsBoundary.fromName(boundary) }),
  };
  const data = new Data(app, stackName(stage, "Data"), {
    ...common,
    terminationProtection,
    stage,
    adopt,
    recovery: copies,
    identityKeyArn: settings.identityKeyArn,
    sells: sells(settings),
    description: `Tables and secrets of ${stage}: do not delete`,
  });
  const recovery =
    copies &&
    new Recovery(app, stackName(stage, "Recovery"), {
      ...common,
      env: { account, region: copies.region },
      terminationProtection,
      stage,
      recovery: copies,
      description: `Copies of the tables of ${stage} in another region: do not delete`,
    });
  // The plan's copies go to a vault that exists.
  if (recovery) data.addStackDependency(recovery);
  const network =
    egress.kind !== "nat-gateway"
      ? undefined
      : new EgressNetwork(app, stackName(stage, "Network"), {
          ...common,
          terminationProtection,
          egress,
          webhookAllowedCidrs,
          description: `Egress network of ${stage}, with addresses that the upstream whitelists`,
        });
  const service = new Service(app, stackName(stage, "Service"), {
    ...common,
    stage,
    settings,
    data,
    network,
    description: `API, functions, queues and alarms of ${stage}`,
  });
  // Without the boundary, which is what the pipeline may do: people need the stage's stack, and the pipeline's roles do not.
  const administrator = new Administrator(app, stackName(stage, "Administrator"), {
    ...place,
    terminationProtection,
    stage,
    settings,
    data,
    service,
    description: `Permissions of the people who operate ${stage}: an administrator deploys it`,
  });
  return { data, network, service, recovery, administrator };
};
