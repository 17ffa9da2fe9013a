import type { Stack } from "aws-cdk-lib";
import type { Topic } from "aws-cdk-lib/aws-sns";
import * as z from "#zod";
import type { QueueName } from "../../functions/function-spec.ts";
import type { FunctionEnvironment } from "../../shared/platform/env.ts";
import { type FunctionName, functionNames, functionNamesOf, specOf } from "../functions.ts";
import { itemGrants, onlyIndexKeys } from "../item-grants.ts";
import { pascalCase } from "../outputs.ts";
import type { StageSettings } from "../stage-settings.ts";
import { tables as shapes, type TableShape } from "../tables.ts";
import { acknowledge } from "./acknowledge.ts";
import type { CanaryRelease } from "./canary-release.ts";
import { type Data, tableNames } from "./data.ts";
import type { FunctionNetwork } from "./egress-network.ts";
import type { DeadLetters, QueueConsumer } from "./queue-consumer.ts";
import { assertRoomFor } from "./room-for-environment.ts";
import { ServiceFunction } from "./service-function.ts";

export interface ServiceFunctionsProps {
  readonly stage: string;
  readonly settings: StageSettings;
  readonly data: Data;
  readonly queues: Readonly<Record<QueueName, QueueConsumer>>;
  /** Absent in a stage without a console. */
  readonly notifications: Topic | undefined;
  readonly values: FunctionEnvironment;
  readonly network: FunctionNetwork | undefined;
  readonly canary: CanaryRelease | undefined;
}

/** The functions of a stage, each with the environment and the permissions of its spec. */
export class ServiceFunctions {
  readonly all: ReadonlyMap<FunctionName, ServiceFunction>;
  private readonly props: ServiceFunctionsProps;

  constructor(stack: Stack, props: ServiceFunctionsProps) {
    this.props = props;
    this.all = new Map(functionNamesOf(props.settings).map((name) => [name, this.make(stack, name)]));
  }

  /** Throws if the stage has no function of this name. */
  named(name: string): ServiceFunction {
    const found = functionNames.find((known) => known === name);
    const made = found && this.all.get(found);
    if (made === undefined) throw new Error(`The stage has no function ${name}`);
    return made;
  }

  /** Lets those that redrive read all dead letters of the stage. Everything that makes dead letters exists before. */
  allowRedrives(all: readonly DeadLetters[]): void {
    for (const made of this.all.values()) {
      const { redrives } = made.spec;
      if (redrives === undefined) continue;
      made.allow(
        ["sqs:GetQueueAttributes", "sqs:ReceiveMessage"],
        all.map(({ queueArn }) => queueArn),
      );
      made.allow(
        ["sqs:DeleteMessage"],
        redrives.map((queue) => this.props.queues[queue].deadLetters.queueArn),
      );
    }
  }

  private make(stack: Stack, name: FunctionName): ServiceFunction {
    const { stage, settings, values, network, canary } = this.props;
    const { environment: variables = [] } = specOf(name);
    const environment = Object.fromEntries(variables.map((variable) => [variable, values[variable]]));
    assertRoomFor(environment, { stage, name });
    const made = new ServiceFunction(stack, pascalCase(name), {
      stage,
      name,
      environment,
      logRetentionDays: settings.logRetentionDays,
      network,
      reservedConcurrency: reservedFor(name, settings),
      canary,
      tracing: settings.tracing,
    });
    this.allowSpec(made);
    return made;
  }

  /** The permissions of its spec, to read the secrets whose ids it gets, and to hash with the key whose ARN it gets. */
  private allowSpec(made: ServiceFunction): void {
    const { data, queues } = this.props;
    const { tables = {}, queries = [], queriesKeysOnly, sendsTo = [], environment = [] } = made.spec;
    const grants = itemGrants(tables);
    for (const table of tableNames) {
      for (const { actions, condition } of grants[table]) {
        made.allow(actions, [data.tables[table].tableArn], condition);
      }
    }
    made.allow(
      ["dynamodb:Query"],
      tableNames.flatMap((table) => {
        const { indexes }: TableShape = shapes[table];
        return queries
          .filter((index) => indexes.some(({ name }) => name === index))
          .map((index) => `${data.tables[table].tableArn}/index/${index}`);
      }),
      queriesKeysOnly && onlyIndexKeys(shapes.ledger.indexes.filter(({ name }) => queries.includes(name))),
    );
    made.allow(
      ["sqs:SendMessage"],
      sendsTo.map((queue) => queues[queue].queue.queueArn),
    );
    this.allowNotifications(made);
    made.allow(
      ["secretsmanager:GetSecretValue"],
      Object.entries(data.secretArns).flatMap(([variable, arn]) =>
        environment.some((own) => own === variable) ? [arn] : [],
      ),
    );
    if (made.spec.copiesAudit && data.auditCopy) {
      const { bucketArn } = data.auditCopy;
      made.allow(["s3:PutObject"], [`${bucketArn}/*`]);
      // cdk-nag names what another stack exports by the name of its export.
      const name = imported.parse(data.resolve(data.exportValue(bucketArn)))["Fn::ImportValue"];
      acknowledge(made.ownRole, `IAM5[Resource::${name}/*]`, "The key of an object has its entry's place and hash");
    }
    made.allow(["kms:GenerateMac"], environment.includes("IDENTITY_KEY_ARN") ? [data.identityKeyArn] : []);
  }

  private allowNotifications(made: ServiceFunction): void {
    const arn = this.props.notifications?.topicArn;
    if (arn === undefined) return;
    if (made.spec.notifications === "publishes") made.allow(["sns:ListSubscriptionsByTopic", "sns:Publish"], [arn]);
    if (made.spec.notifications !== "subscribes") return;
    made.allow(["sns:ListSubscriptionsByTopic", "sns:Unsubscribe"], [arn]);
    made.allow(["sns:Subscribe"], [arn], { StringEquals: { "sns:Protocol": "email" } });
  }
}

const imported = z.object({ "Fn::ImportValue": z.string() });

const reservedFor = (name: FunctionName, { reservedConcurrency }: StageSettings): number | undefined =>
  Object.entries(reservedConcurrency).find(([reserved]) => reserved === name)?.[1];
