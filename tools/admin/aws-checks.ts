import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  GetResourcePolicyCommand,
} from "@aws-sdk/client-dynamodb";
import {
  type EventSourceMappingConfiguration,
  LambdaClient,
  paginateListEventSourceMappings,
} from "@aws-sdk/client-lambda";
import { ListSubscriptionsByTopicCommand, SNSClient, type Subscription } from "@aws-sdk/client-sns";
import * as z from "#zod";
import { functionNamesOf } from "../../infra/functions.ts";
import { stackName } from "../../infra/outputs.ts";
import { QUEUE_CONCURRENCY_MIN, queues } from "../../infra/queues.ts";
import { type StageSettings, sells } from "../../infra/stage-settings.ts";
import { streamConsumers } from "../../infra/streams.ts";
import { auditDenials, type TableShape, tables as tableShapes } from "../../infra/tables.ts";
import { type DoctorCheck, lookInto, ok, skipped, wrong } from "../../shared/actions/doctor-check-result.ts";
import { rateGroups } from "../../shared/contract/limits.ts";
import { counted } from "../../shared/contract/values/counted.ts";
import { formatIpRange, isRangeWithin, parseIpRanges, widestRanges } from "../../shared/platform/ip-range.ts";
import { sum } from "../../shared/platform/sum.ts";
import { readAccessLogRole } from "../aws/access-log-role.ts";
import { readAccountConcurrency, UNRESERVED_MIN } from "../aws/concurrency.ts";
import { readStackAlarms } from "../aws/stack-alarms.ts";
import { withClient } from "../aws/with-client.ts";
import { readLockedDays } from "./audit-copy.ts";
import type { AdminContext } from "./context.ts";
import { perform } from "./perform.ts";

/** Enough for 2,000 events a second of 10 ms each. */
const RECEIVE_RESERVED = 20;

/** Concurrency is limited by the AWS account; the rate limits of keys are the interface's. */
export const limits: DoctorCheck<AdminContext> = async ({ target: { stage } }) => {
  const rates = Object.entries(rateGroups).map(([group, { requestsPerMinute }]) => `${requestsPerMinute} (${group})`);
  const perKey = `each key may send ${rates.join(", ")} requests a minute`;
  if (stage === undefined) return skipped(`no concurrency limit here; ${perKey}`);
  const { settings } = stage;
  const { ConcurrentExecutions: limit, UnreservedConcurrentExecutions: unreserved } = await readAccountConcurrency();
  const reserved = limit - unreserved;
  const found = `${limit} concurrent executions in this account and region, ${reserved} of them reserved`;
  if (unreserved < UNRESERVED_MIN) {
    const tooFew = sells(settings) ? wrong : lookInto;
    return tooFew(
      `only ${found}: further ones are refused; the queues alone may use ${sumOf(settings.maxConcurrency)}`,
      `Ask AWS for ${reserved + UNRESERVED_MIN} or more: Service Quotas, AWS Lambda, Concurrent executions${untilThen(settings)}`,
    );
  }
  const missing = notReserved(settings);
  const isEnough = unreserved - sumOf(missing) - sumOf(settings.maxConcurrency) >= UNRESERVED_MIN;
  if (!sells(settings) || Object.keys(missing).length === 0 || !isEnough) return ok(`${found}; ${perKey}`);
  return lookInto(
    `${found}; none of them for ${Object.keys(missing).join(" and ")}`,
    `Set reservedConcurrency in stages.ts to ${JSON.stringify({ ...settings.reservedConcurrency, ...missing })} and deploy`,
  );
};

/** The queues must not take what few executions there are. */
const untilThen = ({ maxConcurrency }: StageSettings): string => {
  const least = { outcomes: QUEUE_CONCURRENCY_MIN, delivery: QUEUE_CONCURRENCY_MIN };
  if (sumOf(maxConcurrency) <= sumOf(least)) return "";
  return `; until then set maxConcurrency in stages.ts to ${JSON.stringify(least)} and deploy`;
};

/**
 * What to reserve for the functions that must not wait for others: purchases, which last about a second each, and the
 * events that settle them.
 */
const notReserved = ({ requestsPerSecondMax, reservedConcurrency }: StageSettings): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries({ purchase: requestsPerSecondMax, "receive-upstream-event": RECEIVE_RESERVED }).filter(
      ([name]) => !Object.hasOwn(reservedConcurrency, name),
    ),
  );

const sumOf = (numbers: Readonly<Record<string, number>>): number => sum(Object.values(numbers));

/** A mapping that is disabled, or cannot read its source, processes nothing, and a new one has no alarm yet. */
export const consumers: DoctorCheck<AdminContext> = async ({ target: { name, stage, environment } }) => {
  if (stage === undefined) return skipped("the local service reads its queues and its stream itself");
  const isQueueOff = environment.WORKERS === "off";
  const all = [
    ...Object.values(queues).map(({ consumer }) => ({ consumer, isOff: isQueueOff })),
    ...Object.values(streamConsumers).map(({ consumer }) => ({ consumer, isOff: false })),
  ].filter(({ consumer }) => functionNamesOf(stage.settings).includes(consumer));
  const mappings = await mappingsByFunction();
  const faults = all.flatMap(({ consumer, isOff }) => {
    const fault = mappingFault(mappings.get(`${name}-airtime-${consumer}`), isOff);
    return fault === undefined ? [] : [`${consumer}: ${fault}`];
  });
  if (faults.length === 0)
    return ok(isQueueOff ? "the stream is read, the queues are not" : "all queues and the stream are read");
  return wrong(faults.join("; "), 'Follow "Messages that wait" in docs/runbook.md');
};

const mappingFault = (mapping: EventSourceMappingConfiguration | undefined, isOff: boolean): string | undefined => {
  if (mapping === undefined) return "has no mapping";
  const { State, LastProcessingResult = "" } = mapping;
  if (isOff) return undefined;
  if (State !== "Enabled") return `its mapping is ${State}`;
  return LastProcessingResult.startsWith("PROBLEM") ? LastProcessingResult : undefined;
};

/**
 * The mappings by the names of their functions. AWS lists those of a function without those of its aliases, so all of
 * them are read. An ARN ends in `function:NAME` or `function:NAME:ALIAS`.
 */
const mappingsByFunction = (): Promise<ReadonlyMap<string | undefined, EventSourceMappingConfiguration>> =>
  withClient(new LambdaClient({ maxAttempts: 2 }), async (client) => {
    const found = new Map<string | undefined, EventSourceMappingConfiguration>();
    for await (const { EventSourceMappings = [] } of paginateListEventSourceMappings({ client }, {})) {
      for (const mapping of EventSourceMappings) found.set(mapping.FunctionArn?.split(":")[6], mapping);
    }
    return found;
  });

/** AWS sends no alarm to an address that has not confirmed its subscription. */
export const alarms: DoctorCheck<AdminContext> = async ({ target: { stage } }) => {
  if (stage === undefined) return skipped("the local service has no alarms");
  const { alarmEmail, ticketEmail = alarmEmail } = stage.settings;
  const topics = [
    await readTopic("those to act on at any hour", stage.topicArns.page, alarmEmail),
    await readTopic("the others", stage.topicArns.ticket, ticketEmail),
  ];
  if (alarmEmail === undefined && topics.every(({ addresses }) => addresses === 0)) {
    return skipped("reach nobody: the stage has no alarmEmail");
  }
  const found = topics.map((topic) => topic.found).join("; ");
  const todo = topics.flatMap((topic) => topic.todo ?? []).join(" ");
  if (todo === "") return ok(found);
  return topics.some(({ confirmed }) => confirmed === 0) ? wrong(found, todo) : lookInto(found, todo);
};

/** Whom a topic reaches, and what to do about those whom it does not. */
const readTopic = async (which: string, topicArn: string, email = "ADDRESS") => {
  const subscriptions = await subscriptionsOf(topicArn);
  const confirmed = subscriptions.filter(({ SubscriptionArn }) => SubscriptionArn?.startsWith("arn:")).length;
  const pending = subscriptions.filter(({ SubscriptionArn }) => SubscriptionArn === "PendingConfirmation");
  const unconfirmed = pending.map(({ Endpoint }) => `, ${Endpoint} has not confirmed`).join("");
  const found = `${which}: ${confirmed === 0 ? "reach nobody" : `confirmed subscriptions: ${confirmed}`}${unconfirmed}`;
  const addresses = subscriptions.length;
  if (confirmed > 0 && pending.length === 0) return { found, confirmed, addresses };
  // AWS deletes a subscription that is not confirmed in two days, and a deployment does not make it again.
  const todo = `Confirm the e-mail of AWS Notifications; aws sns subscribe --topic-arn ${topicArn} --protocol email --notification-endpoint ${email} sends it again.`;
  return { found, confirmed, addresses, todo };
};

const subscriptionsOf = (TopicArn: string): Promise<readonly Subscription[]> =>
  withClient(new SNSClient({ maxAttempts: 2 }), async (sns) => {
    const { Subscriptions = [] } = await sns.send(new ListSubscriptionsByTopicCommand({ TopicArn }));
    return Subscriptions;
  });

/**
 * CloudFormation compares only what a template sets, so that a deployment does not find an alarm whose actions were switched off.
 * Source: AWS CloudFormation, "What is drift?". One that stays raised does not notify again.
 */
export const alarmActions: DoctorCheck<AdminContext> = async ({ target: { name, stage } }) => {
  if (stage === undefined) return skipped("the local service has no alarms");
  const stacks = [stackName(name, "Service"), stackName(name, "Administrator")];
  const read = await Promise.all(stacks.map(readStackAlarms));
  const missing = read.flatMap((each) => each.missing);
  const all = read.flatMap(({ alarms, composites }) => [...alarms, ...composites]);
  const namesOf = (some: typeof all): string => some.map(({ AlarmName = "" }) => AlarmName).join(" ");
  const off = namesOf(all.filter(({ ActionsEnabled }) => ActionsEnabled === false));
  const raised = namesOf(all.filter(({ StateValue }) => StateValue === "ALARM"));
  const findings = [
    [missing.join(" "), "deleted", 'Make them again: "What was changed by hand" in docs/deployment.md.'],
    [raised, "raised", 'Each has its section in docs/runbook.md, "Alarms".'],
    // Last, because its end is the command's.
    [off, "switched off", `aws cloudwatch enable-alarm-actions --alarm-names ${off}`],
  ].filter(([names]) => names !== "");
  if (findings.length === 0) return ok(`${counted(all.length, "alarm")} may notify, and none is raised`);
  const found = findings.map(([names, what]) => `${what}: ${names}`).join("; ");
  const todo = findings.map(([, , each]) => each).join(" ");
  return missing.length > 0 || off !== "" ? wrong(found, todo) : lookInto(found, todo);
};

/**
 * A restore sets none of these on its table, and CloudFormation none on an adopted one. Source: Amazon DynamoDB, "Restore a
 * table in DynamoDB".
 */
export const tables: DoctorCheck<AdminContext> = async ({ ledger, accounts, facts, target }) => {
  if (target.isLocal || !facts.sells) return skipped("only checked for a stage that sells");
  const checked = [
    { name: accounts.accessTable, shape: tableShapes.access },
    { name: ledger.table, shape: tableShapes.ledger },
    { name: ledger.auditTable, shape: tableShapes.audit },
  ];
  const faults = await Promise.all(checked.map((table) => tableFaults(ledger, table)));
  if (faults.flat().length === 0) return ok("can be restored to any second, and are protected from deletion");
  return wrong(
    faults.flat().join("; "),
    'Set what a restore leaves out: step 4 of "Restore the ledger" in docs/recovery.md',
  );
};

const tableFaults = async (
  { db }: Pick<AdminContext["ledger"], "db">,
  { name: TableName, shape }: { readonly name: string; readonly shape: TableShape },
): Promise<readonly string[]> => {
  const [{ Table }, recovery] = await Promise.all([
    db.send(new DescribeTableCommand({ TableName })),
    recoveryFaults(db, TableName),
  ]);
  return [
    ...(Table?.DeletionProtectionEnabled ? [] : [`${TableName} is not protected from deletion`]),
    ...recovery,
    ...(!shape.stream || Table?.StreamSpecification?.StreamViewType === "NEW_AND_OLD_IMAGES"
      ? []
      : [`${TableName} has no stream with the old and the new item`]),
  ];
};

export const recoveryFaults = async (
  db: AdminContext["ledger"]["db"],
  TableName: string,
): Promise<readonly string[]> => {
  const { ContinuousBackupsDescription } = await db.send(new DescribeContinuousBackupsCommand({ TableName }));
  const { PointInTimeRecoveryStatus } = ContinuousBackupsDescription?.PointInTimeRecoveryDescription ?? {};
  return PointInTimeRecoveryStatus === "ENABLED" ? [] : [`${TableName} has no point-in-time recovery`];
};

/** A restored table has no resource policy, and CloudFormation sets none on an adopted one. */
export const auditPolicy: DoctorCheck<AdminContext> = async ({ ledger, target: { callerArn } }) => {
  if (callerArn === undefined) return skipped("the local table has no policy");
  const [, partition, , , account] = callerArn.split(":");
  const { auditTable: name } = ledger;
  const ResourceArn = `arn:${partition}:dynamodb:${process.env.AWS_REGION}:${account}:table/${name}`;
  const denied: readonly string[] = await ledger.db
    .send(new GetResourcePolicyCommand({ ResourceArn }))
    .then(({ Policy = "" }) => deniedToAll(Policy))
    .catch((error: unknown) => {
      if (error instanceof Error && error.name === "PolicyNotFoundException") return [];
      throw error;
    });
  const allowed = auditDenials.filter((action) => !denied.includes(action));
  if (allowed.length === 0) return ok(`nobody may change or delete an entry of ${name}`);
  return wrong(
    `the policy of ${name} does not deny everybody ${allowed.join(", ")}`,
    'Set it: "Restore the audit table" in docs/recovery.md. Then run doctor again in some seconds',
  );
};

/** S3 locks what is put into the bucket as it is configured then. */
export const auditCopy: DoctorCheck<AdminContext> = async ({ target: { environment, stage } }) => {
  const { AUDIT_COPY_BUCKET: bucket } = environment;
  const wanted = stage?.settings.auditCopy?.days;
  if (wanted === undefined) return skipped("the stage has no copy of its audit log: the setting auditCopy");
  const days = await readLockedDays(bucket);
  if (days !== undefined && days >= wanted)
    return ok(`nobody can delete a copy in ${bucket} for ${counted(days, "day")}`);
  return wrong(
    days === undefined
      ? `${bucket} does not lock copies`
      : `${bucket} locks copies for ${counted(days, "day")}, not for ${wanted}`,
    "Deploy the stage's data stack, or set the bucket's Object Lock to COMPLIANCE again. Copies of this time can be deleted",
  );
};

/** The actions that a resource policy denies every principal without a condition, on the whole table. */
const deniedToAll = (policy: string): readonly string[] =>
  resourcePolicy
    .parse(JSON.parse(policy))
    .Statement.flatMap((statement) => denialToAll.safeParse(statement).data?.Action ?? []);

const oneOrMore = z.union([
  z.array(z.string()),
  z.pipe(
    z.string(),
    z.transform((one) => [one]),
  ),
]);
const everybody = z.union([
  z.literal("*"),
  z.strictObject({ AWS: oneOrMore.check(z.refine((names) => names.includes("*"))) }),
]);
const resourcePolicy = z.object({ Statement: z.array(z.unknown()) });
const denialToAll = z.strictObject({
  Sid: z.optional(z.string()),
  Effect: z.literal("Deny"),
  Principal: everybody,
  Resource: oneOrMore.check(z.refine((resources) => resources.includes("*"))),
  Action: oneOrMore,
});

/**
 * The role with which API Gateway writes the access logs of every REST API of the account and region. A stack of others that
 * set it may have taken it away again; API Gateway then serves requests and logs none. Sources: Amazon API Gateway, "Set
 * up CloudWatch logging for REST APIs"; "GetAccount".
 */
export const accessLogs: DoctorCheck<AdminContext> = async ({ target: { stage } }) => {
  if (stage === undefined || stage.settings.front.kind === "http") return skipped("the callers' API needs no role");
  const role = await readAccessLogRole(process.env.AWS_REGION ?? "");
  if (role !== undefined) return ok(`API Gateway writes them as ${role}`);
  return wrong(
    "API Gateway has no role in this account and region, and logs no request",
    'Name one: step 1 of "Restrict the callers\' API" in docs/deployment.md',
  );
};

/** API Gateway refuses other addresses before the service sees a request: their apps get a 403 without a code. */
export const callerRanges: DoctorCheck<AdminContext> = async (context) => {
  const { front } = context.target.stage?.settings ?? {};
  if (front?.kind !== "rest") return skipped("the callers' API is not limited to ranges");
  const { ranges } = await perform(context, "ips ranges", {});
  const admitted = parseIpRanges(front.callerRanges.join());
  const allowed = parseIpRanges(ranges.join());
  const refused = allowed.filter((range) => !admitted.some((one) => isRangeWithin(range, one)));
  if (refused.length === 0) return ok(`callerRanges has what the whitelists allow: ${counted(ranges.length, "range")}`);
  const whole = widestRanges([...admitted, ...allowed]).map(formatIpRange);
  return lookInto(
    `callerRanges lacks ${counted(refused.length, "range")} that whitelists allow: ${refused.map(formatIpRange).join(" ")}`,
    `Set callerRanges in stages.ts to ${JSON.stringify(whole)} and deploy, or remove from the whitelists what is too much`,
  );
};
