import { CfnOutput, type Stack } from "aws-cdk-lib";
import type { FunctionEnvironment } from "../../shared/platform/env.ts";
import { API_URL_OUTPUT, OPERATIONS_URL_OUTPUT, outputOf, TOPIC_OUTPUTS } from "../outputs.ts";
import type { Alarms } from "./alarms.ts";
import type { Api } from "./api.ts";
import type { CallersApi } from "./callers-api.ts";

export interface ServiceOutputsProps {
  readonly values: FunctionEnvironment;
  readonly api: Api;
  /** Absent if callers use the HTTP API as all others do. */
  readonly callers: CallersApi | undefined;
  readonly apiUrl: string;
  readonly domainTarget: string | undefined;
  /** URL of the dashboard. */
  readonly dashboard: string;
  readonly alarms: Alarms;
}

/** The outputs that operators and the admin commands read. */
export const addOutputs = (
  stack: Stack,
  { values, api, callers, apiUrl, domainTarget, dashboard, alarms }: ServiceOutputsProps,
): void => {
  const addOutput = (name: string, value: string, description: string): void => {
    new CfnOutput(stack, `Output${name}`, { value, description }).overrideLogicalId(name);
  };
  addOutput(API_URL_OUTPUT, apiUrl, "Base URL for callers");
  if (callers) addOutput(OPERATIONS_URL_OUTPUT, api.url, "Base URL for operators' commands and documents");
  addOutput(
    "WebhookUrl",
    `${api.url}/webhooks/upstream/TOKEN`,
    "Webhook URL for the upstream; admin secrets rotate webhook-token shows the TOKEN once",
  );
  addOutput("DashboardUrl", dashboard, "Alarms, queues and open transactions");
  addOutput(TOPIC_OUTPUTS.page, alarms.topics.page.topicArn, "Subscribe those who must act on alarms at any hour");
  addOutput(TOPIC_OUTPUTS.ticket, alarms.topics.ticket.topicArn, "Subscribe those who act on alarms on working days");
  if (domainTarget !== undefined) addOutput("DomainTarget", domainTarget, "Point the domain's CNAME or alias here");
  for (const [variable, value] of Object.entries(values)) {
    // An output must not be empty; an absent one reads as empty.
    if (value !== "") addOutput(outputOf(variable), value, `${variable}, for the admin commands`);
  }
};
