import { Aws, Duration, Fn, RemovalPolicy, Stack } from "aws-cdk-lib";
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

/** 5xx responses of the gateway itself. */
const GATEWAY_FAILURES = "GatewayFailures";

/** The HTTP API: routes to functions, access logs, throttling. */
export class Api extends Construct {
  /** Base URL for callers, `/v1` included. */
  readonly url: string;
  /** The host names of the API. */
  readonly hosts: readonly string[];
  /** Target of the custom domain's DNS record, if there is one. */
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
      disableExecuteApiEndpoint: domain?.isOnlyAddress ?? false,
    });
    this.accessLogs = new LogGroup(this, "AccessLogs", {
      logGroupName: accessLogName(stage),
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
    acknowledge(
      this,
      "APIG4",
      "Every function authenticates the key itself, because the same write counts the request",
    );
    this.addFailureMetric();
  }

  /** 5xx responses in 5 minutes that no function returned. */
  get failures(): Metric {
    return new Metric({
      namespace: METRICS_NAMESPACE,
      metricName: `${GATEWAY_FAILURES}-${this.stage}`,
      statistic: "Sum",
      period: Duration.minutes(5),
    });
  }

  addRoute({ method, path }: Pick<Route, "method" | "path">, handler: ServiceFunction): void {
    this.api.addRoutes({ path, methods: [HttpMethod[method]], integration: this.integrationOf(handler) });
  }

  /** Handles requests that match no route. */
  addDefaultRoute(handler: ServiceFunction): void {
    const integration = this.integrationOf(handler);
    new HttpRoute(this, "Rest", { httpApi: this.api, routeKey: HttpRouteKey.DEFAULT, integration });
  }

  apiMetric(metricName: "Count" | "4xx" | "5xx" | "Latency", statistic: string): Metric {
    const dimensionsMap = { ApiId: this.api.apiId };
    return new Metric({
      namespace: "AWS/ApiGateway",
      metricName,
      statistic,
      dimensionsMap,
      period: Duration.minutes(5),
    });
  }

  private integrationOf(handler: ServiceFunction): HttpLambdaIntegration {
    const known = this.integrations.get(handler);
    if (known !== undefined) return known;
    const integration = new HttpLambdaIntegration(handler.node.id, handler);
    this.integrations.set(handler, integration);
    return integration;
  }

  /** Functions log their own 5xx responses; this counts those of the gateway. */
  private addFailureMetric(): void {
    new MetricFilter(this, "Failures", {
      logGroup: this.accessLogs,
      filterPattern: FilterPattern.literal('{ ($.status = "5*") && ($.answered != "5*") }'),
      metricNamespace: METRICS_NAMESPACE,
      metricName: this.failures.metricName,
      metricValue: "1",
    });
  }
}

/**
 * Below `/aws/vendedlogs/`, because API Gateway otherwise lists each log group in one resource policy of the account,
 * which ends at 5120 characters. The stack's own id makes the name new for each creation: a group that a failed one left
 * behind is not in the way, and this one has its retention from the start.
 */
const accessLogName = (stage: string): string =>
  `/aws/vendedlogs/${stage}-airtime-access-${Fn.select(2, Fn.split("/", Aws.STACK_ID))}`;

/** The route key, never the path: paths contain references, and one contains a secret. */
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
