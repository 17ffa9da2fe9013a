import { Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { AccessLogField, AccessLogFormat } from "aws-cdk-lib/aws-apigateway";
import {
  DomainName,
  HttpApi,
  HttpMethod,
  HttpRoute,
  HttpRouteKey,
  HttpStage,
  LogGroupLogDestination,
} from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { FilterPattern, LogGroup, MetricFilter } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { Route } from "../../shared/contract/routes.ts";
import { METRICS_NAMESPACE } from "../../shared/platform/log.ts";
import type { StageSettings } from "../stages.ts";
import { acknowledge } from "./acknowledge.ts";
import type { ServiceFunction } from "./service-function.ts";

export interface ApiProps {
  readonly stage: string;
  readonly settings: Pick<StageSettings, "domain" | "logRetentionDays" | "requestsPerSecondMax">;
}

/** Failures of the gateway itself, where no function of ours answered. */
const GATEWAY_FAILURES = "GatewayFailures";

/** The interface's entrance: an HTTP API that knows the route table and nothing else. */
export class Api extends Construct {
  /** Where apps call, `/v1` included. */
  readonly url: string;
  /** The names under which the interface answers. */
  readonly hosts: readonly string[];
  /** Where the domain's DNS record points, if there is a domain. */
  readonly domainTarget: string | undefined;
  readonly accessLogs: LogGroup;
  private readonly api: HttpApi;
  private readonly stage: string;
  private readonly integrations = new Map<ServiceFunction, HttpLambdaIntegration>();

  constructor(scope: Construct, id: string, { stage, settings }: ApiProps) {
    super(scope, id);
    const { domain, logRetentionDays, requestsPerSecondMax } = settings;
    this.stage = stage;
    this.api = new HttpApi(this, "Http", {
      apiName: `${stage}-airtime`,
      createDefaultStage: false,
      // With a name of its own, the interface answers under that name alone.
      disableExecuteApiEndpoint: domain !== undefined,
    });
    this.accessLogs = new LogGroup(this, "AccessLogs", {
      retention: logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const domainName =
      domain &&
      new DomainName(this, "Domain", {
        domainName: domain.name,
        certificate: Certificate.fromCertificateArn(this, "Certificate", domain.certificateArn),
      });
    new HttpStage(this, "Stage", {
      httpApi: this.api,
      stageName: "$default",
      autoDeploy: true,
      throttle: { rateLimit: requestsPerSecondMax, burstLimit: requestsPerSecondMax },
      accessLogSettings: { destination: new LogGroupLogDestination(this.accessLogs), format: accessLogFormat },
      ...(domainName && { domainMapping: { domainName } }),
    });
    const { region, urlSuffix } = Stack.of(this);
    const host = `${this.api.apiId}.execute-api.${region}.${urlSuffix}`;
    this.hosts = [host, ...(domain ? [domain.name] : [])];
    this.url = domain ? `https://${domain.name}/v1` : `${this.api.apiEndpoint}/v1`;
    this.domainTarget = domainName?.regionalDomainName;
    acknowledge(this, "APIG4", "Every function checks the key itself, for it counts the request in the same write");
    this.countOwnFailures();
  }

  /** What the gateway answered with a 5xx that no function gave it, in 5 minutes. */
  get failures(): Metric {
    return new Metric({
      namespace: METRICS_NAMESPACE,
      metricName: `${GATEWAY_FAILURES}-${this.stage}`,
      statistic: "Sum",
      period: Duration.minutes(5),
    });
  }

  serve({ method, path }: Pick<Route, "method" | "path">, by: ServiceFunction): void {
    this.api.addRoutes({ path, methods: [HttpMethod[method]], integration: this.integrationOf(by) });
  }

  /** Everything that is no route. */
  serveRest(by: ServiceFunction): void {
    const integration = this.integrationOf(by);
    new HttpRoute(this, "Rest", { httpApi: this.api, routeKey: HttpRouteKey.DEFAULT, integration });
  }

  figure(metricName: "Count" | "4xx" | "5xx" | "Latency", statistic: string): Metric {
    const dimensionsMap = { ApiId: this.api.apiId };
    return new Metric({
      namespace: "AWS/ApiGateway",
      metricName,
      statistic,
      dimensionsMap,
      period: Duration.minutes(5),
    });
  }

  private integrationOf(by: ServiceFunction): HttpLambdaIntegration {
    const known = this.integrations.get(by);
    if (known !== undefined) return known;
    const integration = new HttpLambdaIntegration(by.node.id, by);
    this.integrations.set(by, integration);
    return integration;
  }

  /** Our functions' own 5xx say what happened; this counts those that the gateway made up. */
  private countOwnFailures(): void {
    new MetricFilter(this, "Failures", {
      logGroup: this.accessLogs,
      filterPattern: FilterPattern.literal('{ ($.status = "5*") && ($.answered != "5*") }'),
      metricNamespace: METRICS_NAMESPACE,
      metricName: this.failures.metricName,
      metricValue: "1",
    });
  }
}

/** The route key and never the path: paths hold references, and one holds a secret. */
const accessLogFormat = AccessLogFormat.custom(
  JSON.stringify({
    request_id: AccessLogField.contextRequestId(),
    route: AccessLogField.contextRouteKey(),
    status: AccessLogField.contextStatus(),
    answered: "$context.integration.status",
    latency_ms: AccessLogField.contextResponseLatency(),
    error: AccessLogField.contextErrorMessage(),
  }),
);
