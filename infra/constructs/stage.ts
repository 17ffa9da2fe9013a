import { App, PermissionsBoundary, Tags, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import type { Construct } from "constructs";
import { stackName } from "../outputs.ts";
import { type StageSettings, sells } from "../stage-settings.ts";
import { Administrator } from "./administrator.ts";
import { Data } from "./data.ts";
import { EgressNetwork, type EgressSubnets } from "./egress-network.ts";
import { declareAssetsBucket, portableSynthesizer } from "./portable-template.ts";
import { Recovery } from "./recovery.ts";
import { Service } from "./service.ts";

export interface StageOptions {
  /** Those of the app that the stage is part of, for an egress of the kind `existing`. */
  readonly subnets?: EgressSubnets | undefined;
  /** The templates have no account, no region and nothing of a bootstrap: other tools than the CDK deploy them. */
  readonly isPortable?: boolean;
}

/**
 * The stacks of one stage: data, egress network, service, recovery in another region, and what only an administrator
 * deploys. They belong to the stage's account and region, if it names them; the CDK then deploys them there or not at all.
 * The scope is an app, or a construct in an app of others, which validates itself.
 */
export const addStage = (
  scope: Construct,
  stage: string,
  settings: StageSettings,
  { subnets, isPortable = false }: StageOptions = {},
) => {
  if (App.isApp(scope)) Validations.of(scope).addPlugins(new AwsSolutionsChecks(scope));
  const { account, region, egress, adopt, recovery: copies } = settings;
  const { costCentre, permissionsBoundary: boundary } = settings;
  const tags = { service: "airtime", stage, ...(costCentre !== undefined && { "cost-centre": costCentre }) };
  for (const [name, value] of Object.entries(tags)) Tags.of(scope).add(name, value);
  const terminationProtection = sells(settings);
  const place = !isPortable && account !== undefined && region !== undefined ? { env: { account, region } } : {};
  const common = {
    ...place,
    ...(isPortable && { synthesizer: portableSynthesizer() }),
    ...(boundary !== undefined && { permissionsBoundary: PermissionsBoundary.fromName(boundary) }),
  };
  const data = new Data(scope, stackName(stage, "Data"), {
    stackName: stackName(stage, "Data"),
    ...common,
    terminationProtection,
    stage,
    adopt,
    recovery: copies,
    identityKeyArn: settings.identityKeyArn,
    auditCopy: settings.auditCopy,
    sells: sells(settings),
    description: `Tables and secrets of ${stage}: do not delete`,
  });
  const recovery =
    copies &&
    new Recovery(scope, stackName(stage, "Recovery"), {
      stackName: stackName(stage, "Recovery"),
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
      : new EgressNetwork(scope, stackName(stage, "Network"), {
          stackName: stackName(stage, "Network"),
          ...common,
          terminationProtection,
          egress,
          destinations: settings,
          description: `Egress network of ${stage}, with addresses that the upstream whitelists`,
        });
  const service = new Service(scope, stackName(stage, "Service"), {
    stackName: stackName(stage, "Service"),
    ...common,
    stage,
    settings,
    data,
    network,
    subnets,
    description: `API, functions, queues and alarms of ${stage}`,
  });
  if (isPortable) declareAssetsBucket(service);
  // Without the boundary, which is what the pipeline may do: people need the stage's stack, and the pipeline's roles do not.
  const administrator = new Administrator(scope, stackName(stage, "Administrator"), {
    stackName: stackName(stage, "Administrator"),
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
