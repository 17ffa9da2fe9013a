import { CfnOutput, Stack } from "aws-cdk-lib";
import { CfnRule, EventField, Rule, RuleTargetInput } from "aws-cdk-lib/aws-events";
import { SnsTopic } from "aws-cdk-lib/aws-events-targets";
import { AccountRootPrincipal, ManagedPolicy, PolicyStatement, Role } from "aws-cdk-lib/aws-iam";
import type { Topic } from "aws-cdk-lib/aws-sns";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import * as z from "#zod";
import { type Role as PersonRole, roles } from "../../shared/contract/roles.ts";
import { auditIndexes, auditKeyPattern, keyPatternOf, ledgerIndexes } from "../../shared/ledger/schema.ts";
import { cacheKeyPattern } from "../../shared/platform/cache-keys.ts";
import { secretNames, secretTable } from "../../shared/platform/secret-table.ts";
import { onlyKeys, otherKeys } from "../item-grants.ts";
import {
  operatorActPolicy,
  operatorDirectPolicy,
  operatorDirectReadPolicy,
  operatorReadPolicy,
  pascalCase,
  rolePolicy,
} from "../outputs.ts";
import { acknowledge } from "./acknowledge.ts";
import type { Data } from "./data.ts";
import { DeadLetters } from "./queue-consumer.ts";
import type { Service } from "./service.ts";

export interface OperatorPoliciesProps {
  readonly stage: string;
  readonly data: Data;
  readonly service: Service;
}

/**
 * The policies of the people who operate a stage, with names that are the same in every account, as permission sets of
 * IAM Identity Center need. They allow the requests of the operator's command line; what those commands ask of AWS
 * that are no action of the service, except `ledger carry-over`, which works on tables outside the stage; and what the
 * runbook's own `aws` commands ask. The direct one is for `--direct`, with which a command performs actions itself: a role
 * of the stage has it, and taking the role pages the operators.
 */
export class OperatorPolicies extends Construct {
  private readonly wildcards: ReadonlyMap<string, string>;
  /** The name of the export of the API's id. */
  private readonly apiExport: string;

  constructor(scope: Construct, id: string, { stage, data, service }: OperatorPoliciesProps) {
    super(scope, id);
    const { alarms, api, hasRestApi, outcomes } = service;
    const queues = service.node.findAll().filter((construct) => construct instanceof Queue);
    const deadLetters = queues.filter((queue) => queue instanceof DeadLetters);
    const working = queues.filter((queue) => !deadLetters.includes(queue));
    // With the token in an order's item, which `reading` allows, one message ends and refunds the order without an entry.
    const settling: readonly Queue[] = [outcomes.queue, outcomes.deadLetters];
    const arnsOf = (some: readonly Queue[]): string[] => some.map(({ queueArn }) => queueArn);
    const { access, ledger, audit, cache } = data.tables;
    const secretArn = (name: (typeof secretNames)[number]): string => data.secretArns[secretTable[name].variable];
    const fixed = secretNames.filter((name) => secretTable[name].kind === "fixed");
    const changeable = secretNames.filter((name) => !fixed.includes(name));
    const versioned = secretNames.filter((name) => "hasVersions" in secretTable[name]);
    // `doctor` sends an event with the path's token, and `upstream probe` uses the test key.
    const usedHere = secretNames.filter((name) => name === "upstream-test-key" || "isPresented" in secretTable[name]);

    // A request that names the stack does not have the id at the end of its ARN.
    const [stackArn = "", ownArn = ""] = [service.stackName, Stack.of(this).stackName].map((name) =>
      service.formatArn({ service: "cloudformation", resource: "stack", resourceName: `${name}/*` }),
    );
    const { partition, region } = Stack.of(this);
    const gatewayAccount = `arn:${partition}:apigateway:${region}::/account`;
    this.apiExport = imported.parse(service.resolve(service.exportValue(api.id)))["Fn::ImportValue"];
    const [reads, changes] = [api.operationsArn("GET", "operator"), api.operationsArn("POST", "operator")];
    const inRole = (role: PersonRole): string[] => [api.operationsArn("GET", role), api.operationsArn("POST", role)];
    this.wildcards = new Map([
      [stackArn, "The id of the stage's own stack"],
      [ownArn, "The id of the stage's own stack"],
      [reads, "Every action that reads"],
      [changes, "Every action that changes something"],
      ...roles.flatMap((role) =>
        inRole(role).map((arn): [string, string] => [arn, `Every action of the role ${role}`]),
      ),
    ]);

    const byService = [ledgerIndexes.byList, ledgerIndexes.byOpen];
    const described = ["dynamodb:DescribeContinuousBackups", "dynamodb:DescribeTable"];
    type Secrets = readonly (typeof secretNames)[number][];
    /** `written` is what the same policy may write: one statement says both, because a policy has few characters. */
    const reading = (isDirect: boolean, written: Secrets = []): PolicyStatement[] => [
      ...(isDirect ? [] : [allow(["execute-api:Invoke"], [reads])]),
      allow(["cloudformation:DescribeStacks"], [stackArn]),
      allow(["cloudformation:ListStackResources"], [stackArn, ownArn]),
      // Each table in one statement: a policy has few characters.
      allow(["dynamodb:GetItem", ...(isDirect ? ["dynamodb:BatchGetItem"] : []), ...described], [access.tableArn]),
      allow(["dynamodb:BatchGetItem", "dynamodb:GetItem", ...described], [ledger.tableArn]),
      // Who may set the key that seals results of identity checks could read them.
      allow(["dynamodb:BatchGetItem", "dynamodb:GetItem"], [cache.tableArn], otherKeys([cacheKeyPattern("replay")])),
      // `audit verify` finds the logs by the table itself.
      allow(["dynamodb:GetResourcePolicy", "dynamodb:Query", "dynamodb:Scan", ...described], [audit.tableArn]),
      ...(data.auditCopy
        ? [allow(["s3:GetBucketObjectLockConfiguration", "s3:ListBucketVersions"], [data.auditCopy.bucketArn])]
        : []),
      allow(
        ["dynamodb:Query"],
        [
          ...[...byService, ...(isDirect ? [ledgerIndexes.byUpstreamReference] : [])].map(
            ({ name }) => `${ledger.tableArn}/index/${name}`,
          ),
          ...(isDirect ? [`${audit.tableArn}/index/${auditIndexes.byAbout.name}`] : []),
        ],
      ),
      allow(["secretsmanager:DescribeSecret"], secretNames.filter((name) => !written.includes(name)).map(secretArn)),
      allow(["sqs:GetQueueAttributes"], arnsOf(deadLetters)),
      allow(
        ["sns:ListSubscriptionsByTopic"],
        Object.values(alarms.topics).map(({ topicArn }) => topicArn),
      ),
      // The account's settings of API Gateway, in which the role for access logs is.
      ...(hasRestApi ? [allow(["apigateway:GET"], [gatewayAccount])] : []),
      // AWS authorises these without a resource, and names composite alarms to nobody else.
      allow(["cloudwatch:DescribeAlarms", "lambda:GetAccountSettings", "lambda:ListEventSourceMappings"], ["*"]),
    ];
    const mayMove = (isDirect: boolean) => (queue: Queue) => isDirect || !settling.includes(queue);
    const acting = (isDirect: boolean): PolicyStatement[] => [
      ...(isDirect
        ? [
            allow(["dynamodb:UpdateItem"], [ledger.tableArn]),
            allow(
              ["dynamodb:ConditionCheckItem"],
              [ledger.tableArn],
              onlyKeys([keyPatternOf("period"), keyPatternOf("period-replacement")]),
            ),
            allow(["dynamodb:PutItem", "dynamodb:UpdateItem"], [access.tableArn, cache.tableArn]),
            allow(["dynamodb:PutItem"], [ledger.tableArn]),
            allow(["dynamodb:PutItem"], [audit.tableArn], onlyKeys([auditKeyPattern("entry")])),
          ]
        : [allow(["execute-api:Invoke"], [changes])]),
      // The dry run of `keys reconcile`. Items of both tables hold limits, which two people raise: only `direct` writes them.
      allow(["dynamodb:BatchGetItem", "dynamodb:Scan"], [access.tableArn]),
      allow(
        ["secretsmanager:DescribeSecret", "secretsmanager:PutSecretValue"],
        [...changeable, ...(isDirect ? versioned : [])].map(secretArn),
      ),
      ...(isDirect ? [allow(["secretsmanager:GetSecretValue"], [...usedHere, ...fixed].map(secretArn))] : []),
      // AWS moves dead letters with the permissions of the person who asks for it.
      allow(["sqs:SendMessage"], arnsOf(working.filter(mayMove(isDirect)))),
      allow(
        ["sqs:DeleteMessage", "sqs:PurgeQueue", "sqs:ReceiveMessage", "sqs:StartMessageMoveTask"],
        arnsOf(deadLetters.filter(mayMove(isDirect))),
      ),
    ];

    this.addPolicy("Read", operatorReadPolicy(stage), `Read ${stage} with the operator's commands`, reading(false));
    this.addPolicy("Act", operatorActPolicy(stage), `Operate ${stage}: read, and change accounts, keys and money`, [
      ...reading(false, changeable),
      ...acting(false),
    ]);
    const directRole = this.addDirectRole(stage, alarms.topics.page);
    const direct = `Operate ${stage} where its service does not answer`;
    this.addPolicy("DirectRead", operatorDirectReadPolicy(stage), `${direct}: read`, reading(true)).attachToRole(
      directRole,
    );
    this.addPolicy("Direct", operatorDirectPolicy(stage), `${direct}: change`, acting(true)).attachToRole(directRole);
    for (const role of roles) {
      if (role === "operator") continue;
      // The path has the role, and the service what it may do.
      this.addPolicy(pascalCase(role), rolePolicy(stage, role), `Work with ${stage} in the role ${role}`, [
        allow(["execute-api:Invoke"], inRole(role)),
        allow(["cloudformation:DescribeStacks"], [stackArn]),
      ]);
    }
  }

  /**
   * STS records a call in the region that it is sent to, so the role can be taken in the stage's region only. CloudTrail
   * records it as read-only, so the rule asks for such events too, as AWS's example for this call does; EventBridge gets none
   * without a trail in the account. Source: AWS, "Receiving read-only management events from AWS services".
   */
  private addDirectRole(stage: string, notified: Topic): Role {
    const role = new Role(this, "DirectRole", {
      description: `Taken to operate ${stage} where its service does not answer; it pages the operators`,
      assumedBy: new AccountRootPrincipal().withConditions({
        StringEquals: { "aws:RequestedRegion": Stack.of(this).region },
      }),
    });
    const person = EventField.fromPath("$.detail.userIdentity.arn");
    const taken = new Rule(this, "DirectRoleTaken", {
      description: "Notifies when the role for direct access is taken",
      eventPattern: {
        source: ["aws.sts"],
        detailType: ["AWS API Call via CloudTrail"],
        detail: {
          eventSource: ["sts.amazonaws.com"],
          eventName: ["AssumeRole"],
          requestParameters: { roleArn: [role.roleArn] },
        },
      },
      targets: [
        new SnsTopic(notified, {
          message: RuleTargetInput.fromText(
            `${person} took the role for direct access to ${stage}: with it a person changes money and keys without the service. If you do not know of it, end the role's sessions (docs/runbook.md, "Direct access").`,
          ),
        }),
      ],
    });
    const { defaultChild } = taken.node;
    if (!(defaultChild instanceof CfnRule)) throw new Error("The CDK makes a rule from another construct");
    defaultChild.state = "ENABLED_WITH_ALL_CLOUDTRAIL_MANAGEMENT_EVENTS";
    new CfnOutput(this, "DirectRoleArn", {
      value: role.roleArn,
      description: "Role for commands with --direct",
    }).overrideLogicalId("OperatorDirectRole");
    return role;
  }

  /** A text with tokens, as cdk-nag names it: what another stack exports by the name of its export. */
  private shownText(text: string): string {
    const stack = Stack.of(this);
    const parts = joined.safeParse(stack.resolve(text)).data?.["Fn::Join"][1] ?? [text];
    return parts
      .map((part) => {
        if (typeof part === "string") return part;
        return part.Ref.startsWith("AWS::") ? `<${part.Ref}>` : this.apiExport;
      })
      .join("");
  }

  /**
   * Never reword a description: IAM keeps it for good, so that CloudFormation would replace the policy, and refuses that for one with
   * a name. Source: AWS CloudFormation, "AWS::IAM::ManagedPolicy".
   */
  private addPolicy(
    id: string,
    managedPolicyName: string,
    description: string,
    statements: PolicyStatement[],
  ): ManagedPolicy {
    const policy = new ManagedPolicy(this, id, { managedPolicyName, description, statements });
    acknowledge(
      policy,
      "IAM5[Resource::*]",
      "What is read of alarms and of Lambda, which AWS authorises without a resource",
    );
    for (const [arn, reason] of this.wildcards) acknowledge(policy, `IAM5[Resource::${this.shownText(arn)}]`, reason);
    new CfnOutput(this, `${id}Output`, { value: policy.managedPolicyArn, description }).overrideLogicalId(
      `Operator${id}Policy`,
    );
    return policy;
  }
}

const imported = z.object({ "Fn::ImportValue": z.string() });
const joined = z.object({
  "Fn::Join": z.tuple([z.literal(""), z.array(z.union([z.string(), z.object({ Ref: z.string() })]))]),
});

const allow = (actions: string[], resources: string[], conditions?: object): PolicyStatement =>
  new PolicyStatement({ actions, resources, ...(conditions && { conditions: { ...conditions } }) });
