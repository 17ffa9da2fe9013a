import { CfnOutput, type Stack } from "aws-cdk-lib";
import type { FunctionEnvironment } from "../../shared/platform/env.ts";
import { API_URL_OUTPUT, outputOf } from "../outputs.ts";
import type { Alarms } from "./alarms.ts";
import type { Api } from "./api.ts";

export interface ServiceOutputsProps {
  readonly values: FunctionEnvironment;
  readonly api: Api;
  /** Its address. */
  readonly dashboard: string;
  readonly alarms: Alarms;
}

/** What people and the operator's commands need to know of a stage. */
export const addOutputs = (stack: Stack, { values, api, dashboard, alarms }: ServiceOutputsProps): void => {
  const say = (name: string, value: string, description: string): void => {
    new CfnOutput(stack, `Output${name}`, { value, description }).overrideLogicalId(name);
  };
  say(API_URL_OUTPUT, api.url, "Where apps call");
  say(
    "WebhookUrl",
    `${api.url}/webhooks/upstream/TOKEN`,
    "For the upstream; TOKEN: admin secrets rotate webhook-token shows it once",
  );
  say("DashboardUrl", dashboard, "What rings, what waits, what is open");
  say("AlarmTopic", alarms.topic.topicArn, "Subscribe whoever must hear of alarms");
  if (api.domainTarget !== undefined) say("DomainTarget", api.domainTarget, "Point the domain's CNAME or alias here");
  for (const [variable, value] of Object.entries(values)) {
    // An output must not be empty; an absent one reads as empty.
    if (value !== "") say(outputOf(variable), value, `${variable}, for the operator's commands`);
  }
};
