import {
  CloudWatchClient,
  type CompositeAlarm,
  type MetricAlarm,
  SetAlarmStateCommand,
} from "@aws-sdk/client-cloudwatch";
import { SNSClient, SubscribeCommand } from "@aws-sdk/client-sns";
import { DeleteMessageBatchCommand, ReceiveMessageCommand } from "@aws-sdk/client-sqs";
import * as z from "#zod";
import { stackName } from "../../../infra/outputs.ts";
import { openSqs } from "../../../shared/platform/aws/sdk.ts";
import { readStackAlarms } from "../../aws/stack-alarms.ts";
import type { Context, Simulator, Stage } from "../context.ts";
import { assertThat, found, type Outcome } from "../outcome.ts";

const NOTIFIED_MS_MAX = 120_000;
/** How many alarms a sentence names. */
const NAMED_MAX = 5;

/**
 * Raises every alarm of the stage, and waits for the notification of each that notifies. The others are parts of a
 * composite alarm, which they raise. CloudWatch resets them by itself.
 */
export const raiseAlarms = async ({ stage }: Context, simulator: Simulator, { outputs }: Stage): Promise<Outcome> => {
  const { alarms, composites, missing } = await readStackAlarms(stackName(stage, "Service"));
  assertThat(missing.length === 0, `alarms of the stack are missing: ${listed(missing)}`);
  const topics = [outputs.AlarmTopic, outputs.TicketTopic];
  const notifies = ({ ActionsEnabled, AlarmActions = [], OKActions = [] }: MetricAlarm | CompositeAlarm): boolean =>
    ActionsEnabled !== false && topics.some((topic) => AlarmActions.includes(topic) && OKActions.includes(topic));
  const parts = composites.flatMap(({ AlarmRule = "" }) => raisedBy(AlarmRule));
  const isPart = ({ AlarmName = "", AlarmArn = "" }: MetricAlarm): boolean =>
    parts.includes(AlarmName) || parts.includes(AlarmArn);
  const silent = [
    ...alarms.filter((alarm) => !notifies(alarm) && !isPart(alarm)),
    ...composites.filter((each) => !notifies(each)),
  ];
  assertThat(alarms.length > 0, "the stack has no alarm");
  assertThat(silent.length === 0, `alarms notify no topic: ${listed(silent.map(({ AlarmName = "" }) => AlarmName))}`);

  // SetAlarmState is limited to a few calls a second, which the SDK retries.
  const cloudWatch = new CloudWatchClient({ maxAttempts: 10 });
  const sns = new SNSClient({});
  for (const TopicArn of topics) {
    const { SubscriptionArn = "none" } = await sns.send(
      new SubscribeCommand({ TopicArn, Protocol: "sqs", Endpoint: simulator.NotificationsArn }),
    );
    // A pending one gets no notification.
    assertThat(
      SubscriptionArn.startsWith("arn:"),
      `the subscription to ${TopicArn} is not confirmed: ${SubscriptionArn}`,
    );
  }
  for (const { AlarmName, StateValue } of alarms) {
    // Only a change of the state notifies.
    const states = StateValue === "ALARM" ? (["OK", "ALARM"] as const) : (["ALARM"] as const);
    for (const state of states) {
      await cloudWatch.send(new SetAlarmStateCommand({ AlarmName, StateValue: state, StateReason: "Acceptance test" }));
    }
  }
  const names = [...alarms, ...composites].filter(notifies).map(({ AlarmName = "" }) => AlarmName);
  const notified = await raisedAlarms(simulator.NotificationsUrl, names);
  const unheard = names.filter((name) => !notified.has(name));
  assertThat(
    unheard.length === 0,
    `no notification came of ${unheard.length} of ${names.length} alarms: ${listed(unheard)}. Check the policies of the topics and of the queue of the simulator's stack`,
  );
  return found(`${alarms.length} alarms were raised, and the topics' subscriber was notified`);
};

/** The names and ARNs of the alarms that raise a composite alarm by their own state `ALARM`, exactly as its rule has them. */
export const raisedBy = (alarmRule: string): readonly string[] =>
  [...alarmRule.matchAll(/\bALARM\(\s*"([^"]+)"\s*\)/g)].map(([, alarm = ""]) => alarm);

const listed = (names: readonly string[]): string =>
  [...names.slice(0, NAMED_MAX), ...(names.length > NAMED_MAX ? [`${names.length - NAMED_MAX} more`] : [])].join(", ");

const envelope = z.object({ Message: z.string() });
const notification = z.object({ AlarmName: z.string(), NewStateValue: z.string() });

/** The alarms of which a notification has come, until all have. */
const raisedAlarms = async (QueueUrl: string, names: readonly string[]): Promise<ReadonlySet<string>> => {
  const sqs = openSqs();
  const raised = new Set<string>();
  for (const untilMs = Date.now() + NOTIFIED_MS_MAX; Date.now() < untilMs && raised.size < names.length; ) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 2 }),
    );
    for (const { Body = "" } of Messages) {
      const { AlarmName, NewStateValue } = notification.parse(JSON.parse(envelope.parse(JSON.parse(Body)).Message));
      if (NewStateValue === "ALARM" && names.includes(AlarmName)) raised.add(AlarmName);
    }
    const Entries = Messages.map(({ ReceiptHandle = "" }, index) => ({ Id: String(index), ReceiptHandle }));
    if (Entries.length > 0) await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
  }
  return raised;
};
