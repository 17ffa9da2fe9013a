import { type App, Validations } from "aws-cdk-lib";
import { AwsSolutionsChecks } from "cdk-nag";
import { stackName } from "../outputs.ts";
import type { StageSettings } from "../stages.ts";
import { Data } from "./data.ts";
import { EgressNetwork } from "./egress-network.ts";
import { Service } from "./service.ts";

/** The stacks of one stage, in whatever account and region they are deployed to: what must be kept, the way out, and the rest. */
export const addStage = (app: App, stage: string, settings: StageSettings) => {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const { egress, webhookAllowedCidrs, adopt } = settings;
  const data = new Data(app, stackName(stage, "Data"), { adopt, description: `Tables and secrets of ${stage}: keep` });
  const network =
    egress.kind === "none"
      ? undefined
      : new EgressNetwork(app, stackName(stage, "Network"), {
          egress,
          webhookAllowedCidrs,
          description: `The way out of ${stage}, with addresses that the upstream knows`,
        });
  const service = new Service(app, stackName(stage, "Service"), {
    stage,
    settings,
    data,
    network,
    description: `Interface, functions, queues and alarms of ${stage}`,
  });
  return { data, network, service };
};
