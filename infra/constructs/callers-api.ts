import { Duration, Stack } from "aws-cdk-lib";
import {
  AccessLogFormat,
  EndpointType,
  Integration,
  IntegrationType,
  LogGroupLogDestination,
  type MethodDeploymentOptions,
  ResponseType,
  RestApi,
} from "aws-cdk-lib/aws-apigateway";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { InterfaceVpcEndpoint } from "aws-cdk-lib/aws-ec2";
import { AnyPrincipal, Effect, PolicyDocument, PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { ILogGroup } from "aws-cdk-lib/aws-logs";
import { CfnWebACL, CfnWebACLAssociation } from "aws-cdk-lib/aws-wafv2";
import { Construct } from "constructs";
import { errors } from "../../shared/contract/errors.ts";
import { gatewaySecurityHeaders, headers } from "../../shared/contract/headers.ts";
import { rateGroups } from "../../shared/contract/limits.ts";
import type { Route } from "../../shared/contract/route.ts";
import { callerRoutes, restAccessLogFields, routeLimits } from "../gateway.ts";
import type { StageSettings } from "../stage-settings.ts";
import { acknowledge } from "./acknowledge.ts";
import type { ServiceFunction } from "./service-function.ts";

/** Fronts that are a REST API. */
export type RestFront = Exclude<StageSettings["front"], { readonly kind: "http" }>;

export interface CallersApiProps {
  readonly stage: string;
  readonly settings: Pick<StageSettings, "domain" | "requestsPerSecondMax">;
  readonly front: RestFront;
  readonly accessLogs: ILogGroup;
}

/** Part of AWS's own address of a REST API. */
const STAGE_NAME = "callers";

/** The callers' routes on a REST API of their own, which takes a resource policy and a web ACL. */
export class CallersApi extends Construct {
  /** Base URL for callers, `/v1` included. */
  readonly url: string;
  readonly hosts: readonly string[];
  readonly api: RestApi;
  private readonly apiName: string;
  private readonly permitted = new Set<ServiceFunction>();

  constructor(scope: Construct, id: string, { stage, settings, front, accessLogs }: CallersApiProps) {
    super(scope, id);
    const { domain, requestsPerSecondMax } = settings;
    this.apiName = `${stage}-airtime-callers`;
    // A private API has no domain of the internet: the stage's domain then leads to the HTTP API.
    const ownDomain = front.kind === "rest" ? domain : undefined;
    // Each kind is an API of its own. CloudFormation would change the endpoint of one in place, in no order with the web ACL and
    // the domain's mapping, which a private API has not; API Gateway also refuses ids of endpoints while it is not private.
    // Sources: AWS, "Change a public or private API endpoint type in API Gateway"; hashicorp/terraform-provider-aws 14269.
    this.api = new RestApi(this, front.kind === "private" ? "Private" : "Rest", {
      restApiName: this.apiName,
      // The role that writes access logs is the account's and not the stage's (docs/deployment.md).
      cloudWatchRole: false,
      endpointConfiguration:
        front.kind === "private"
          ? {
              types: [EndpointType.PRIVATE],
              vpcEndpoints: front.vpcEndpointIds.map((vpcEndpointId) =>
                InterfaceVpcEndpoint.fromInterfaceVpcEndpointAttributes(this, vpcEndpointId, {
                  vpcEndpointId,
                  port: 443,
                }),
              ),
            }
          : { types: [EndpointType.REGIONAL] },
      policy: callersPolicy(front),
      disableExecuteApiEndpoint: ownDomain?.isOnlyAddress ?? false,
      // Bodies arrive as they were sent, as from an HTTP API.
      binaryMediaTypes: ["*/*"],
      deployOptions: {
        stageName: STAGE_NAME,
        throttlingRateLimit: requestsPerSecondMax,
        throttlingBurstLimit: requestsPerSecondMax,
        methodOptions: methodLimits(requestsPerSecondMax),
        accessLogDestination: new LogGroupLogDestination(accessLogs),
        accessLogFormat: AccessLogFormat.custom(JSON.stringify(restAccessLogFields)),
      },
    });
    this.addGatewayResponses();
    if (front.kind === "rest") this.addWebAcl(front.requestsPerAddress);
    const { region, urlSuffix } = Stack.of(this);
    const host = `${this.api.restApiId}.execute-api.${region}.${urlSuffix}`;
    this.hosts = [host, ...(ownDomain ? [ownDomain.name] : [])];
    this.url = ownDomain ? `https://${ownDomain.name}/v1` : `https://${host}/${STAGE_NAME}/v1`;
    acknowledge(this, "APIG2", "The functions parse every request by its schema, and answer in the error envelope");
    acknowledge(this, "APIG3", "A private API is closed to the internet, and a regional one has its web ACL");
    acknowledge(
      this,
      "APIG4",
      "Every function authenticates the key itself, because the same write counts the request",
    );
    acknowledge(this, "APIG6", "Execution logs contain bodies and keys; the access log has every request");
    acknowledge(this, "COG4", "Callers are apps with API keys; no person signs in here");
  }

  /** Adds a route of callers. */
  addRoute(route: Route, handler: ServiceFunction): void {
    const { invoked } = handler;
    const { partition, region } = Stack.of(this);
    const integration = new Integration({
      type: IntegrationType.AWS_PROXY,
      integrationHttpMethod: "POST",
      uri: `arn:${partition}:apigateway:${region}:lambda:path/2015-03-31/functions/${invoked.functionArn}/invocations`,
    });
    this.api.root.resourceForPath(route.path).addMethod(route.method, integration);
    // One permission for all methods: one for each would exceed the 20 KB that AWS allows for a function's policy.
    if (!this.permitted.has(handler)) {
      this.permitted.add(handler);
      invoked.addPermission("CallersApi", {
        principal: new ServicePrincipal("apigateway.amazonaws.com"),
        sourceArn: this.api.arnForExecuteApi("*", "/*", STAGE_NAME),
      });
    }
    this.api.latestDeployment?.node.addDependency(invoked.node.findChild("CallersApi"));
  }

  /** The metrics of an HTTP API under a REST API's names. Source: AWS, "Amazon API Gateway dimensions and metrics". */
  apiMetric(metricName: "Count" | "4xx" | "5xx" | "Latency", statistic: string): Metric {
    return new Metric({
      namespace: "AWS/ApiGateway",
      metricName: { Count: "Count", "4xx": "4XXError", "5xx": "5XXError", Latency: "Latency" }[metricName],
      statistic,
      dimensionsMap: { ApiName: this.apiName, Stage: STAGE_NAME },
      period: Duration.minutes(5),
    });
  }

  /**
   * What the REST API answers by itself, in the error envelope. Only the unknown path has a code: it is refused before
   * anything runs. AWS reads its `Authorization` header as a signature, and answers as one of the other 4xx, of a type that
   * it does not document, with a message that quotes the header: so the type is passed on, and no message. Sources: AWS,
   * "Gateway response types for API Gateway"; HumanCellAtlas/data-store 328.
   */
  private addGatewayResponses(): void {
    const body = (message: string): Record<string, string> => ({
      "application/json": `{"status":false,"message":${message}}`,
    });
    const common = {
      [headers.requestId]: "context.extendedRequestId",
      ...mapValues({ "cache-control": "no-store", ...gatewaySecurityHeaders }),
    };
    const { status, message } = errors.not_found;
    this.api.addGatewayResponse("NoRoute", {
      type: ResponseType.MISSING_AUTHENTICATION_TOKEN,
      statusCode: String(status),
      responseHeaders: {
        ...common,
        ...mapValues({
          [headers.errorCode]: "not_found",
          [headers.rateLimit]: String(rateGroups.catalog.requestsPerMinute),
          [headers.rateRemaining]: String(rateGroups.catalog.requestsPerMinute),
        }),
      },
      templates: body(JSON.stringify(message)),
    });
    // API Gateway's limits are per second. Source: AWS, "Throttle requests to your REST APIs".
    const throttled = { ...common, ...mapValues({ [headers.retryAfter]: "1" }) };
    for (const [type, responseHeaders] of [
      [ResponseType.DEFAULT_4XX, common],
      [ResponseType.DEFAULT_5XX, common],
      [ResponseType.THROTTLED, throttled],
    ] as const) {
      const templates = body('"API Gateway answered by itself: $context.error.responseType"');
      this.api.addGatewayResponse(type.responseType, { type, responseHeaders, templates });
    }
  }

  /**
   * Limits the requests of each address, before they cost an API request. Sources: AWS WAF, "Rate-based rule high-level
   * settings"; "Use AWS WAF to protect your REST APIs in API Gateway".
   */
  private addWebAcl(requestsPerAddress: number): void {
    const visible = (metricName: string) => ({
      metricName,
      cloudWatchMetricsEnabled: true,
      sampledRequestsEnabled: false,
    });
    const acl = new CfnWebACL(this, "WebAcl", {
      scope: "REGIONAL",
      defaultAction: { allow: {} },
      visibilityConfig: visible(this.apiName),
      rules: [
        {
          name: "requests-per-address",
          priority: 0,
          action: { block: {} },
          statement: {
            rateBasedStatement: { aggregateKeyType: "IP", limit: requestsPerAddress, evaluationWindowSec: 60 },
          },
          visibilityConfig: visible(`${this.apiName}-requests-per-address`),
        },
      ],
    });
    new CfnWebACLAssociation(this, "WebAclAssociation", {
      resourceArn: this.api.deploymentStage.stageArn,
      webAclArn: acl.attrArn,
    });
  }
}

/**
 * Who may send a request at all. The denial does not depend on what is allowed, and nothing is allowed by default.
 * Source: AWS, "API Gateway resource policy examples".
 */
const callersPolicy = (front: RestFront): PolicyDocument => {
  const statement = (effect: Effect, conditions: object = {}) =>
    new PolicyStatement({
      effect,
      principals: [new AnyPrincipal()],
      actions: ["execute-api:Invoke"],
      resources: ["execute-api:/*"],
      conditions: { ...conditions },
    });
  const outside =
    front.kind === "rest"
      ? { NotIpAddress: { "aws:SourceIp": front.callerRanges } }
      : { StringNotEquals: { "aws:SourceVpce": front.vpcEndpointIds } };
  return new PolicyDocument({ statements: [statement(Effect.ALLOW), statement(Effect.DENY, outside)] });
};

/** Each method's share of the stage's rate limit. */
const methodLimits = (requestsPerSecondMax: number): Record<string, MethodDeploymentOptions> => {
  const limits = routeLimits(requestsPerSecondMax);
  return Object.fromEntries(
    [...callerRoutes].map(([key, { method, path }]) => {
      const limit = limits.get(key);
      if (limit === undefined) throw new Error(`No limit of ${key}`);
      return [`${path}/${method}`, { throttlingRateLimit: limit, throttlingBurstLimit: limit }];
    }),
  );
};

/** Static values, as a gateway response takes them. */
const mapValues = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, `'${value}'`]));
