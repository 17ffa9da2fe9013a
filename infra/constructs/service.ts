import { Stack, type StackProps } from "aws-cdk-lib";
import type { Construct } from "constructs";
import type { Route } from "../../shared/contract/route.ts";
import { routes } from "../../shared/contract/routes.ts";
import type { FunctionEnvironment } from "../../shared/platform/env.ts";
import { consoleRoutes } from "../console-routes.ts";
import { type FunctionName, functionNames, functionSpecs } from "../functions.ts";
import { type QueueName, queues } from "../queues.ts";
import { isWorker, scheduledFunctions, scheduleUrgency } from "../schedules.ts";
import type { StageSettings } from "../stages.ts";
import { streamConsumers } from "../streams.ts";
import { Alarms } from "./alarms.ts";
import { Api } from "./api.ts";
import { addBackupNotifications } from "./backup-notifications.ts";
import { CanaryRelease } from "./canary-release.ts";
import { addDashboard } from "./dashboard.ts";
import { type Data, tableNames } from "./data.ts";
import { type EgressNetwork, ExistingNetwork, type FunctionNetwork } from "./egress-network.ts";
import { dataValues, settingsValues, variablesOf } from "./function-environment.ts";
import { OperatorPolicies } from "./operator-policies.ts";
import { DeadLetters, QueueConsumer } from "./queue-consumer.ts";
import { Schedules } from "./schedules.ts";
import { addServiceAlarms } from "./service-alarms.ts";
import { ServiceFunction, type ServiceFunctions } from "./service-function.ts";
import { addOutputs } from "./service-outputs.ts";
import { StreamConsumer } from "./stream-consumer.ts";

export interface ServiceProps extends StackProps {
  readonly stage: string;
  readonly settings: StageSettings;
  readonly data: Data;
  /** Absent if the stage makes none. */
  readonly network: EgressNetwork | undefined;
}

/** The stateless part of a stage: API, functions, queues, schedules and alarms. It can be recreated at any time. */
export class Service extends Stack {
  private readonly props: ServiceProps;
  private readonly network: FunctionNetwork | undefined;
  private readonly canary: CanaryRelease | undefined;
  private readonly functions: ServiceFunctions;

  constructor(scope: Construct, id: string, props: ServiceProps) {
    super(scope, id, props);
    this.props = props;
    const { stage, settings, data } = props;
    const { egress, webhookAllowedCidrs, release } = settings;
    this.network =
      egress.kind === "existing"
        ? new ExistingNetwork(this, "Network", { egress, webhookAllowedCidrs })
        : props.network;
    this.canary = release.kind === "canary" ? new CanaryRelease(this, "Canary", { release }) : undefined;

    const alarms = new Alarms(this, "Alarms", {
      stage,
      emails: { page: settings.alarmEmail, ticket: settings.ticketEmail ?? settings.alarmEmail },
    });
    const api = new Api(this, "Api", { stage, settings });
    const outcomes = this.addQueue(
      "outcomes",
      alarms,
      "Customers' transactions stay open and unrefunded: outcomes were given up.",
    );
    const delivery = this.addQueue(
      "delivery",
      alarms,
      "Apps do not learn how their transactions ended: webhooks were given up.",
    );
    const values: FunctionEnvironment = {
      ...dataValues(data),
      OUTCOMES_QUEUE_URL: outcomes.queue.queueUrl,
      DELIVERY_QUEUE_URL: delivery.queue.queueUrl,
      ...settingsValues(settings, api.hosts),
    };
    this.functions = this.makeFunctions(values, { outcomes, delivery });

    for (const route of Object.values<Route>(routes)) api.addRoute(route, this.functionNamed(route.function));
    api.addDefaultRoute(this.functions["not-found"]);
    if (settings.console) {
      for (const route of consoleRoutes) api.addConsoleRoute(route, this.functionNamed(route.function));
    }

    const isWorking = settings.workers === "on";
    outcomes.addConsumer(this.functions[queues.outcomes.consumer], isWorking);
    delivery.addConsumer(this.functions[queues.delivery.consumer], isWorking);
    for (const [name, spec] of Object.entries({
      Ledger: streamConsumers.webhooks,
      Statistics: streamConsumers.statistics,
    })) {
      const consumer = this.functions[spec.consumer];
      if (consumer) new StreamConsumer(this, name, { stage, table: data.tables.ledger, consumer, alarms, spec });
    }
    const targets = scheduledFunctions.map((name) => ({
      target: this.functions[name],
      enabled: isWorking || !isWorker(name),
      urgency: scheduleUrgency[name],
    }));
    new Schedules(this, "Schedules", { stage, alarms, targets });

    this.allowRedrives({ outcomes, delivery });
    if (settings.recovery) {
      const tables = [data.tables.access, data.tables.ledger];
      addBackupNotifications(this, { stage, recovery: settings.recovery, tables, alarms });
    }
    new OperatorPolicies(this, "Operators", { stage, data, alarms });
    addServiceAlarms(alarms, {
      api,
      functions: this.functions,
      hasConsole: settings.console !== undefined,
      tables: data.tables,
      logBytesPerHourMax: settings.logBytesPerHourMax,
      waitingMinutes: settings.waiting.minutes,
    });
    const dashboard = addDashboard(this, {
      stage,
      api,
      functions: this.functions,
      queues: { outcomes, delivery },
      alarms,
    });
    addOutputs(this, { values, api, dashboard, alarms, hasConsole: settings.console !== undefined });
  }

  private addQueue(name: QueueName, alarms: Alarms, impact: string): QueueConsumer {
    return new QueueConsumer(this, pascalCase(name), {
      queueName: `${this.props.stage}-airtime-${name}`,
      alarms,
      impact: `${impact} Read the log of ${queues[name].consumer}, fix the cause, redrive the queue.`,
      delayImpact: functionSpecs[queues[name].consumer].impact,
      ...queues[name],
      concurrencyMax: this.props.settings.maxConcurrency[name],
    });
  }

  private makeFunctions(
    values: FunctionEnvironment,
    queueConsumers: Readonly<Record<QueueName, QueueConsumer>>,
  ): ServiceFunctions {
    const make = (name: FunctionName) => this.makeFunction(name, values, queueConsumers);
    return {
      "list-catalog": make("list-catalog"),
      purchase: make("purchase"),
      "check-identity": make("check-identity"),
      "read-account": make("read-account"),
      "receive-upstream-event": make("receive-upstream-event"),
      "apply-upstream-event": make("apply-upstream-event"),
      "enqueue-webhooks": make("enqueue-webhooks"),
      "deliver-webhook": make("deliver-webhook"),
      "requeue-deliveries": make("requeue-deliveries"),
      "send-waiting-orders": make("send-waiting-orders"),
      "refresh-catalog": make("refresh-catalog"),
      "reconcile-ledger": make("reconcile-ledger"),
      "serve-docs": make("serve-docs"),
      "not-found": make("not-found"),
      ...(this.props.settings.console && {
        "console-api": make("console-api"),
        "serve-console": make("serve-console"),
        "count-transactions": make("count-transactions"),
      }),
    };
  }

  /** A function with its environment and its permissions. */
  private makeFunction(
    name: FunctionName,
    values: FunctionEnvironment,
    queueConsumers: Readonly<Record<QueueName, QueueConsumer>>,
  ): ServiceFunction {
    const { stage, settings, data } = this.props;
    const variables = variablesOf(name);
    const created = new ServiceFunction(this, pascalCase(name), {
      stage,
      name,
      environment: Object.fromEntries(variables.map((variable) => [variable, values[variable]])),
      logRetentionDays: settings.logRetentionDays,
      network: this.network,
      reservedConcurrency: reservedFor(name, settings),
      canary: this.canary,
      tracing: settings.tracing,
    });
    const { tables = {}, queries = [], sendsTo = [] } = created.spec;
    for (const table of tableNames) {
      const actions = tables[table];
      if (actions) created.allow(prefixed("dynamodb", actions), [data.tables[table].tableArn]);
    }
    const { tableArn } = data.tables.ledger;
    if (queries.length > 0)
      created.allow(
        ["dynamodb:Query"],
        queries.map((index) => `${tableArn}/index/${index}`),
      );
    if (sendsTo.length > 0)
      created.allow(
        ["sqs:SendMessage"],
        sendsTo.map((queue) => queueConsumers[queue].queue.queueArn),
      );
    const secretArns = Object.entries(data.secretArns).filter(([variable]) =>
      variables.some((own) => own === variable),
    );
    if (secretArns.length > 0) {
      created.allow(
        ["secretsmanager:GetSecretValue"],
        secretArns.map(([, arn]) => arn),
      );
    }
    return created;
  }

  /** Everything that makes dead letters exists by now. */
  private allowRedrives(queueConsumers: Readonly<Record<QueueName, QueueConsumer>>): void {
    const all = this.node.findAll().filter((construct) => construct instanceof DeadLetters);
    for (const created of Object.values(this.functions)) {
      const { redrives } = created.spec;
      if (redrives === undefined) continue;
      created.allow(
        ["sqs:GetQueueAttributes", "sqs:ReceiveMessage"],
        all.map(({ queueArn }) => queueArn),
      );
      created.allow(
        ["sqs:DeleteMessage"],
        redrives.map((queue) => queueConsumers[queue].deadLetters.queueArn),
      );
    }
  }

  private functionNamed(name: string): ServiceFunction {
    const found = functionNames.find((known) => known === name);
    const created = found && this.functions[found];
    if (created === undefined) throw new Error(`The route table names ${name}, which the stage does not have`);
    return created;
  }
}

const prefixed = (service: string, actions: readonly string[]): string[] =>
  actions.map((action) => `${service}:${action}`);

const reservedFor = (name: FunctionName, { reservedConcurrency }: StageSettings): number | undefined =>
  Object.entries(reservedConcurrency).find(([reserved]) => reserved === name)?.[1];

/** `list-catalog` is `ListCatalog` on AWS. */
const pascalCase = (name: string): string =>
  name
    .split("-")
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join("");
