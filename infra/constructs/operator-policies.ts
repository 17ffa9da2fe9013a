import { CfnOutput, Stack, Token } from "aws-cdk-lib";
import { ManagedPolicy, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { checkpointPk } from "../../shared/ledger/schema.ts";
import { secretNames, secretTable } from "../../shared/platform/secret-table.ts";
import { operatorActPolicy, operatorReadPolicy } from "../outputs.ts";
import { tables } from "../tables.ts";
import { acknowledge } from "./acknowledge.ts";
import type { Alarms } from "./alarms.ts";
import type { Data } from "./data.ts";
import { DeadLetters } from "./queue-consumer.ts";

export interface OperatorPoliciesProps {
  readonly stage: string;
  readonly data: Data;
  readonly alarms: Alarms;
}

/**
 * The policies of the people who operate a stage, with names that are the same in every account, as permission sets of
 * IAM Identity Center need. They allow what the operator's command line asks of AWS, except `ledger carry-over`, which
 * works on tables outside the stage; and what the runbook's own `aws` commands ask.
 */
export class OperatorPolicies extends Construct {
  constructor(scope: Construct, id: string, { stage, data, alarms }: OperatorPoliciesProps) {
    super(scope, id);
    const stack = Stack.of(this);
    const queues = stack.node.findAll().filter((construct) => construct instanceof Queue);
    const deadLetters = queues.filter((queue) => queue instanceof DeadLetters);
    const arnsOf = (some: readonly Queue[]): string[] => some.map(({ queueArn }) => queueArn);
    const { access, ledger, cache } = data.tables;
    const secretArn = (name: (typeof secretNames)[number]): string => data.secretArns[secretTable[name].variable];
    const changeable = secretNames.filter((name) => secretTable[name].kind !== "fixed");

    const reading = (): PolicyStatement[] => [
      // A request that names the stack does not have the id at the end of its ARN.
      allow(
        ["cloudformation:DescribeStacks"],
        [stack.formatArn({ service: "cloudformation", resource: "stack", resourceName: `${stack.stackName}/*` })],
      ),
      allow(["dynamodb:GetItem"], [access.tableArn, cache.tableArn, ledger.tableArn]),
      allow(["dynamodb:BatchGetItem"], [access.tableArn, ledger.tableArn]),
      allow(
        ["dynamodb:Query"],
        tables.ledger.indexes.map(({ name }) => `${ledger.tableArn}/index/${name}`),
      ),
      // `wallet verify` resets a checkpoint that is wrong; it is derived data. A request without the key would match
      // too.
      allow(["dynamodb:PutItem"], [ledger.tableArn], {
        "ForAllValues:StringLike": { "dynamodb:LeadingKeys": [checkpointPk("*")] },
        Null: { "dynamodb:LeadingKeys": "false" },
      }),
      allow(["secretsmanager:GetSecretValue"], secretNames.map(secretArn)),
      allow(["sqs:GetQueueAttributes"], arnsOf(deadLetters)),
      allow(
        ["sns:ListSubscriptionsByTopic"],
        Object.values(alarms.topics).map(({ topicArn }) => topicArn),
      ),
      // AWS authorises both without a resource.
      allow(["lambda:GetAccountSettings", "lambda:ListEventSourceMappings"], ["*"]),
    ];
    const acting = (): PolicyStatement[] => [
      allow(["dynamodb:PutItem", "dynamodb:UpdateItem"], [ledger.tableArn]),
      allow(["dynamodb:PutItem", "dynamodb:Scan", "dynamodb:UpdateItem"], [access.tableArn]),
      allow(["dynamodb:PutItem"], [cache.tableArn]),
      allow(["secretsmanager:PutSecretValue"], changeable.map(secretArn)),
      // AWS moves dead letters with the permissions of the person who asks for it.
      allow(["sqs:SendMessage"], arnsOf(queues.filter((queue) => !deadLetters.includes(queue)))),
      allow(
        ["sqs:DeleteMessage", "sqs:PurgeQueue", "sqs:ReceiveMessage", "sqs:StartMessageMoveTask"],
        arnsOf(deadLetters),
      ),
    ];

    this.addPolicy("Read", operatorReadPolicy(stage), `Read ${stage} with the operator's commands`, reading());
    this.addPolicy("Act", operatorActPolicy(stage), `Operate ${stage}: read, and change accounts, keys and money`, [
      ...reading(),
      ...acting(),
    ]);
  }

  private addPolicy(id: string, managedPolicyName: string, description: string, statements: PolicyStatement[]): void {
    const policy = new ManagedPolicy(this, id, { managedPolicyName, description, statements });
    acknowledge(policy, "IAM5[Resource::*]", "Two actions of Lambda, which AWS authorises without a resource");
    acknowledge(policy, `IAM5[Resource::${shownArn(Stack.of(this))}]`, "The id of the stage's own stack");
    new CfnOutput(this, `${id}Output`, { value: policy.managedPolicyArn, description }).overrideLogicalId(
      `Operator${id}Policy`,
    );
  }
}

/** The stack's ARN with any id, as cdk-nag names it. */
const shownArn = ({ region, account, stackName }: Stack): string => {
  const shown = (value: string, pseudo: string): string => (Token.isUnresolved(value) ? `<${pseudo}>` : value);
  const place = `${shown(region, "AWS::Region")}:${shown(account, "AWS::AccountId")}`;
  return `arn:<AWS::Partition>:cloudformation:${place}:stack/${stackName}/*`;
};

const allow = (actions: string[], resources: string[], conditions?: object): PolicyStatement =>
  new PolicyStatement({ actions, resources, ...(conditions && { conditions: { ...conditions } }) });
