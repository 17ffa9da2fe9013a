import { Stack, type StackProps } from "aws-cdk-lib";
import { Topic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import { type Route, routeKey } from "../../shared/contract/route.ts";
import { routes } from "../../shared/contract/routes.ts";
import { consoleRoutesOf } from "../console-routes.ts";
import { defaultFunction } from "../functions.ts";
import { callerRoutes } from "../gateway.ts";
import type { StageSettings } from "../stage-settings.ts";
import { streamConsumers } from "../streams.ts";
import { Alarms } from "./alarms.ts";
import { Api } from "./api.ts";
import { addBackupNotifications } from "./backup-notifications.ts";
import { CallersApi } from "./callers-api.ts";
import { CanaryRelease } from "./canary-release.ts";
import { addDashboard } from "./dashboard.ts";
import type { Data } from "./data.ts";
import { type EgressNetwork, type EgressSubnets, ExistingNetwork, importedSubnets } from "./egress-network.ts";
import { environmentOf } from "./function-environment.ts";
import { DeadLetters, QueueConsumer } from "./queue-consumer.ts";
import { Schedules } from "./schedules.ts";
import { addServiceAlarms } from "./service-alarms.ts";
import { ServiceFunctions } from "./service-functions.ts";
import { addOutputs } from "./service-outputs.ts";
import { StreamConsumer } from "./stream-consumer.ts";

export interface ServiceProps extends StackProps {
  readonly stage: string;
  readonly settings: StageSettings;
  readonly data: Data;
  /** Absent if the stage makes none. */
  readonly network: EgressNetwork | undefined;
  /** The subnets of the CDK app that the stage is a part of, if its functions run there. */
  readonly subnets: EgressSubnets | undefined;
}

/** The stateless part of a stage: API, functions, queues, schedules and alarms. It can be recreated at any time. */
export class Service extends Stack {
  readonly alarms: Alarms;
  readonly api: Api;
  /** Orders end by its messages. */
  readonly outcomes: QueueConsumer;
  /** Callers have an API of their own, which is a REST API. */
  readonly hasRestApi: boolean;
  /** Base URL for callers, `/v1` included. */
  readonly apiUrl: string;
  /** Target of the custom domain's DNS record, if there is one. */
  readonly domainTarget: string | undefined;

  constructor(scope: Construct, id: string, props: ServiceProps) {
    super(scope, id, props);
    const { stage, settings, data } = props;
    const { egress, front, release, recovery } = settings;
    const hasConsole = settings.console !== undefined;
    const isWorking = settings.workers === "on";

    const network =
      egress.kind === "existing"
        ? new ExistingNetwork(this, "Network", {
            ...(props.subnets ?? importedSubnets(this, egress)),
            destinations: settings,
          })
        : props.network;
    const canary = release.kind === "canary" ? new CanaryRelease(this, "Canary", { release }) : undefined;
    const emails = { page: settings.alarmEmail, ticket: settings.ticketEmail ?? settings.alarmEmail };
    const alarms = new Alarms(this, "Alarms", { stage, emails });
    const api = new Api(this, "Api", { stage, settings });
    const callers =
      front.kind === "http"
        ? undefined
        : new CallersApi(this, "Callers", { stage, settings, front, accessLogs: api.accessLogs });
    if (callers && front.kind === "rest") api.mapDomainTo(callers.api);
    const queues = {
      outcomes: new QueueConsumer(this, "outcomes", { stage, settings, alarms }),
      delivery: new QueueConsumer(this, "delivery", { stage, settings, alarms }),
    };
    const ownHosts = [...api.hosts, ...(callers?.hosts ?? [])];
    // People subscribe themselves, in the console.
    const notifications = hasConsole
      ? new Topic(this, "Notifications", { displayName: `Notifications of ${stage}`, enforceSSL: true })
      : undefined;
    const consoleUrl = hasConsole ? api.consoleUrl : undefined;
    const values = environmentOf({
      ...{ data, queues, notifications, consoleUrl, callersUrl: callers?.url, settings, ownHosts },
    });
    const functions = new ServiceFunctions(this, {
      ...{ stage, settings, data, queues, notifications, values, network, canary },
    });

    // What invokes the functions.
    for (const route of Object.values<Route>(routes)) {
      const routed = callerRoutes.has(routeKey(route)) ? (callers ?? api) : api;
      routed.addRoute(route, functions.named(route.function));
    }
    api.addDefaultRoute(functions.named(defaultFunction));
    for (const route of consoleRoutesOf(settings)) api.addRoute(route, functions.named(route.function));
    for (const queue of Object.values(queues)) queue.addConsumer(functions.named(queue.spec.consumer), isWorking);
    for (const spec of Object.values(streamConsumers)) {
      const consumer = functions.all.get(spec.consumer);
      const table = data.tables[spec.table];
      if (consumer) new StreamConsumer(this, spec.id, { stage, table, consumer, alarms, spec });
    }
    new Schedules(this, "Schedules", { stage, alarms, functions, isWorking });
    functions.allowRedrives(this.node.findAll().filter((construct) => construct instanceof DeadLetters));

    // What people see of it, and may do.
    if (recovery) {
      const tables = [data.tables.access, data.tables.ledger, data.tables.audit];
      addBackupNotifications(this, { stage, recovery, tables, alarms });
    }
    addServiceAlarms(alarms, { api, functions, settings, tables: data.tables });
    const dashboard = addDashboard(this, { stage, api, callers, functions, queues, alarms });
    this.apiUrl = (callers ?? api).url;
    this.domainTarget = api.domainTarget;
    const { apiUrl, domainTarget } = this;
    addOutputs(this, { values, api, callers, apiUrl, domainTarget, dashboard, alarms });
    this.alarms = alarms;
    this.api = api;
    this.outcomes = queues.outcomes;
    this.hasRestApi = callers !== undefined;
  }
}
