import { CloudFormationClient, paginateListStackResources } from "@aws-sdk/client-cloudformation";
import {
  CloudWatchClient,
  type CompositeAlarm,
  DescribeAlarmsCommand,
  type MetricAlarm,
} from "@aws-sdk/client-cloudwatch";
import { batchesOf } from "../../shared/platform/batches.ts";
import { isNoStack } from "./find-stack.ts";
import { withClient } from "./with-client.ts";

/** DescribeAlarms takes that many names. */
const NAMES_MAX = 100;

export type StackAlarms = {
  readonly alarms: readonly MetricAlarm[];
  readonly composites: readonly CompositeAlarm[];
  /** The names of those that CloudWatch does not have. */
  readonly missing: readonly string[];
};

/** The alarms of a stack, as CloudWatch has them; none if there is no such stack. */
export const readStackAlarms = async (stack: string): Promise<StackAlarms> => {
  const names = await alarmNamesOf(stack);
  const alarms: MetricAlarm[] = [];
  const composites: CompositeAlarm[] = [];
  await withClient(new CloudWatchClient({ maxAttempts: 5 }), async (cloudWatch) => {
    for (const some of batchesOf(names, NAMES_MAX)) {
      const { MetricAlarms = [], CompositeAlarms = [] } = await cloudWatch.send(
        new DescribeAlarmsCommand({
          AlarmNames: [...some],
          AlarmTypes: ["MetricAlarm", "CompositeAlarm"],
          MaxRecords: NAMES_MAX,
        }),
      );
      alarms.push(...MetricAlarms);
      composites.push(...CompositeAlarms);
    }
  });
  const known = new Set([...alarms, ...composites].map(({ AlarmName }) => AlarmName));
  return { alarms, composites, missing: names.filter((name) => !known.has(name)) };
};

const TYPES: readonly (string | undefined)[] = ["AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm"];

const alarmNamesOf = (StackName: string): Promise<readonly string[]> =>
  withClient(new CloudFormationClient({ maxAttempts: 5 }), async (client) => {
    const names: string[] = [];
    try {
      for await (const { StackResourceSummaries = [] } of paginateListStackResources({ client }, { StackName })) {
        const alarms = StackResourceSummaries.filter(({ ResourceType }) => TYPES.includes(ResourceType));
        names.push(...alarms.map(({ PhysicalResourceId = "" }) => PhysicalResourceId));
      }
    } catch (error) {
      if (isNoStack(error)) return [];
      throw error;
    }
    return names;
  });
