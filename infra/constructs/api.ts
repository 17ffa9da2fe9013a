import { Aws, Duration, Fn, RemovalPolicy, Stack } from "aws-cdk-lib";
import { AccessLogFormat, type RestApi } from "aws-cdk-lib/aws-apigateway";
import {
  CfnApiMapping,
  CfnStage,
  DomainName,
  HttpApi,
  HttpMethod,
  HttpRoute,
  type HttpRouteIntegrationBindOptions,
  type HttpRouteIntegrationConfig,
  HttpRouteKey,
  HttpStage,
  type IHttpRouteAuthorizer,
  LogGroupLogDestination,
} from "aws-cdk-lib/aws-apigatewayv2";
import { HttpIamAuthorizer, HttpJwtAuthorizer } from "aws-cdk-lib/aws-apigatewayv2-authorizers";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { FilterPattern, LogGroup, MetricFilter } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { Role } from "../../shared/contract/roles.ts";
import { type Route, routeKey } from "../../shared/contract/route.ts";
import { routes } from "../../shared/contract/routes.ts";
import { METRICS_NAMESPACE } from "../../shared/platform/log.ts";
import { type ConsoleRoute, consoleRoutes, consoleRoutesOf } from "../console-routes.ts";
import { accessLogFields, DEFAULT_ROUTE, routeLimits } from "../gateway.ts";
import type { StageSettings } from "../stage-settings.ts";
import { acknowledge } from "./acknowledge.ts";
import type { ServiceFunction } from "./service-function.ts";

export interface ApiProps {
  readonly stage: string;
  readonly settings: Pick<StageSettings, "console" | "domain" | "front" | "logRetentionDays" | "requestsPerSecondMax">;
}

/**
 * Filter patterns of the access log: `answered` is what the function returned. An HTTP API has no metric of 429
 * responses; its access log has them, except where they are excessive. Source: AWS, "API Gateway: missing CloudWatch
 * logs".
 */
const serverErrors = (settings: Pick<StageSettings, "console">): string => {
  const others = consoleRoutesOf(settings).map((route) => ` && ($.route != "${routeKey(route)}")`);
  return `{ (($.status = "500") || (($.status = "5*") && ($.answered != "5*")))${others.join("")} }`;
};
const gatewayThrottles = (settings: Pick<StageSettings, "console">): string => {
  const others = routesWithoutLoss(settings).map((key) => `($.route != "${key}")`);
  return `{ ${['($.status = "429")', '($.answered != "429")', ...others].join(" && ")} }`;
};

/**
 * Routes whose throttling costs no app anything: unknown paths, documents, and actions, which are tried again.
 * Otherwise some requests a second of anybody, a scanner for example, would raise an alarm.
 */
const routesWithoutLoss = (settings: Pick<StageSettings, "console">): readonly string[] => [
  DEFAULT_ROUTE,
  ...Object.values<Route>(routes).flatMap((route) => (route.document === undefined ? [] : [routeKey(route)])),
  ...consoleRoutesOf(settings).map(routeKey),
];

/** Actions of the console that were refused because the person may not do them. */
const CONSOLE_REFUSALS = `{ ($.status = "403") && (${consoleRoutes
  .filter(({ authorizer }) => authorizer === "jwt")
  .map((route) => `($.route = "${routeKey(route)}")`)
  .join(" || ")}) }`;

/** The HTTP API, with the callers' routes unless they have a REST API: routes to functions, access logs, throttling. */
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
  private readonly deployment: HttpStage;
  /** The requests a second of each route. */
  private readonly limits: ReadonlyMap<string, number>;
  /** Verify tokens of people, if the stage has a console, and signatures of operators. */
  private readonly authorizers: { readonly jwt: IHttpRouteAuthorizer | undefined; readonly iam: IHttpRouteAuthorizer };
  private readonly integrations = new Map<ServiceFunction, FunctionIntegration>();

  constructor(scope: Construct, id: string, { stage, settings }: ApiProps) {
    super(scope, id);
    const { console, domain, front, logRetentionDays, requestsPerSecondMax } = settings;
    // Of a regional REST API, if there is one.
    const ownDomain = front.kind === "rest" ? undefined : domain;
    this.stage = stage;
    this.limits = routeLimits(requestsPerSecondMax);
    this.authorizers = {
      jwt: console && new HttpJwtAuthorizer("Console", console.issuer, { jwtAudience: [console.clientId] }),
      iam: new HttpIamAuthorizer(),
    };
    this.api = new HttpApi(this, "Http", {
      apiName: `${stage}-airtime`,
      createDefaultStage: false,
      disableExecuteApiEndpoint: ownDomain?.isOnlyAddress ?? false,
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
    this.deployment = new HttpStage(this, "Stage", {
      httpApi: this.api,
      stageName: "$default",
      autoDeploy: true,
      throttle: { rateLimit: requestsPerSecondMax, burstLimit: requestsPerSecondMax },
      accessLogSettings: {
        destination: new LogGroupLogDestination(this.accessLogs),
        format: AccessLogFormat.custom(JSON.stringify(accessLogFields)),
      },
      ...(domainName && { domainMapping: { domainName } }),
    });
    const { region, urlSuffix } = Stack.of(this);
    const host = `${this.api.apiId}.execute-api.${region}.${urlSuffix}`;
    this.hosts = [host, ...(ownDomain ? [ownDomain.name] : [])];
    this.url = ownDomain ? `https://${ownDomain.name}/v1` : `${this.api.apiEndpoint}/v1`;
    this.domainTarget = domainName?.regionalDomainName;
    acknowledge(
      this,
      "APIG4",
      "Every function authenticates the key itself, because the same write counts the request",
    );
    this.count("ServerErrors", this.serverErrors, serverErrors(settings));
    this.count("Throttles", this.throttles, gatewayThrottles(settings));
    if (console) this.count("Refusals", this.consoleRefusals, CONSOLE_REFUSALS);
  }

  /**
   * 500 responses in 5 minutes, and other 5xx responses that no function returned; those of the console are left out.
   */
  get serverErrors(): Metric {
    return this.gatewayMetric("ServerErrors");
  }

  /** 429 responses in 5 minutes that no function returned, on routes of which apps or the upstream lose something. */
  get throttles(): Metric {
    return this.gatewayMetric("GatewayThrottles");
  }

  /** 403 responses of the console's actions in 5 minutes. */
  get consoleRefusals(): Metric {
    return this.gatewayMetric("ConsoleRefusals");
  }

  /** Where people open the console. */
  get consoleUrl(): string {
    return `${this.url.slice(0, -"/v1".length)}/console`;
  }

  get id(): string {
    return this.api.apiId;
  }

  /** All reads or all changes in a role, as IAM names them. */
  operationsArn(method: "GET" | "POST", role: Role): string {
    return this.api.arnForExecuteApi(method, `/operations/${role}/*`, this.deployment.stageName);
  }

  /**
   * Leads the domain to a REST API. It stays the same resource, as its mapping does: a name exists once in a region, and
   * CloudFormation makes new resources before it deletes those that they replace. HTTP and REST APIs take mappings of one
   * domain. Source: AWS, "Use API mappings to connect API stages to a custom domain name for REST APIs".
   */
  mapDomainTo({ restApiId, deploymentStage }: RestApi): void {
    const mapping = this.deployment.node.findAll().find((each) => each instanceof CfnApiMapping);
    if (mapping === undefined) return;
    mapping.apiId = restApiId;
    mapping.stage = deploymentStage.stageName;
  }

  /** Adds a route with its share of the stage's rate limit. */
  addRoute(route: Pick<Route, "method" | "path"> | ConsoleRoute, handler: ServiceFunction): void {
    const authorizer = "authorizer" in route && route.authorizer && this.authorizers[route.authorizer];
    const [added] = this.api.addRoutes({
      path: route.path,
      methods: [HttpMethod[route.method]],
      integration: this.integrationOf(handler),
      ...(authorizer && { authorizer }),
    });
    if (added !== undefined) this.limit(added, routeKey(route));
  }

  /** Handles requests that match no route. */
  addDefaultRoute(handler: ServiceFunction): void {
    const integration = this.integrationOf(handler);
    const route = new HttpRoute(this, "Rest", { httpApi: this.api, routeKey: HttpRouteKey.DEFAULT, integration });
    this.limit(route, DEFAULT_ROUTE);
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

  /** API Gateway refuses settings of a route that does not exist yet. */
  private limit(route: HttpRoute, key: string): void {
    const { defaultChild } = this.deployment.node;
    const limit = this.limits.get(key);
    if (limit === undefined) throw new Error(`No limit of ${key}`);
    if (!(defaultChild instanceof CfnStage)) throw new Error("The stage of the API has another resource");
    defaultChild.routeSettings = {
      ...defaultChild.routeSettings,
      [key]: { ThrottlingRateLimit: limit, ThrottlingBurstLimit: limit },
    };
    this.deployment.node.addDependency(route);
  }

  private integrationOf(handler: ServiceFunction): FunctionIntegration {
    const known = this.integrations.get(handler);
    if (known !== undefined) return known;
    const integration = new FunctionIntegration(handler);
    this.integrations.set(handler, integration);
    return integration;
  }

  private gatewayMetric(name: "ServerErrors" | "GatewayThrottles" | "ConsoleRefusals"): Metric {
    return new Metric({
      namespace: METRICS_NAMESPACE,
      metricName: `${name}-${this.stage}`,
      statistic: "Sum",
      period: Duration.minutes(5),
    });
  }

  /** Counts the requests in the access log that a pattern fits. */
  private count(id: string, { metricName }: Metric, pattern: string): void {
    new MetricFilter(this, id, {
      logGroup: this.accessLogs,
      filterPattern: FilterPattern.literal(pattern),
      metricNamespace: METRICS_NAMESPACE,
      metricName,
      metricValue: "1",
    });
  }
}

/**
 * Invokes a function, or its alias. The function's own permission stays where its alias is invoked, so that API Gateway
 * may invoke the function from the first moment when a stage ends its canary releases.
 */
class FunctionIntegration extends HttpLambdaIntegration {
  private readonly target: ServiceFunction;

  constructor(target: ServiceFunction) {
    super(target.node.id, target);
    this.target = target;
  }

  override bind(options: HttpRouteIntegrationBindOptions): HttpRouteIntegrationConfig {
    return { ...super.bind(options), uri: this.target.invoked.functionArn };
  }

  protected override completeBind(options: HttpRouteIntegrationBindOptions): void {
    super.completeBind(options);
    const { invoked, node } = this.target;
    // The first route makes the integration, and the others share it.
    const integration = options.scope.node.tryFindChild(node.id);
    if (invoked === this.target || integration === undefined) return;
    const resource = options.route.httpApi.apiId;
    invoked.addPermission("Api", {
      principal: new ServicePrincipal("apigateway.amazonaws.com"),
      sourceArn: Stack.of(integration).formatArn({ service: "execute-api", resource, resourceName: "*/*/*" }),
    });
    // Permissions have no order of their own: the alias must be allowed before it is invoked.
    integration.node.addDependency(invoked.node.findChild("Api"));
  }
}

/**
 * Below `/aws/vendedlogs/`, because API Gateway otherwise lists each log group in one resource policy of the account,
 * which ends at 5120 characters. The stack's own id makes the name new for each creation: a group that a failed one
 * left behind is not in the way, and this one has its retention from the start.
 */
const accessLogName = (stage: string): string =>
  `/aws/vendedlogs/${stage}-airtime-access-${Fn.select(2, Fn.split("/", Aws.STACK_ID))}`;
