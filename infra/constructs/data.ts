import { RemovalPolicy, Stack, type StackProps } from "aws-cdk-lib";
import {
  AttributeType,
  BillingMode,
  type ITable,
  ProjectionType,
  StreamViewType,
  Table,
  TableEncryption,
} from "aws-cdk-lib/aws-dynamodb";
import { CfnSecret, type ISecret, Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { Construct } from "constructs";
import type { StageSettings } from "../stages.ts";
import { type TableShape, tables } from "../tables.ts";

export interface DataProps extends StackProps {
  readonly adopt?: StageSettings["adopt"];
}

/** What must not be lost, and what may: three tables and six secrets. */
export class Data extends Stack {
  readonly access: ITable;
  readonly ledger: ITable;
  readonly cache: ITable;
  readonly secrets: Readonly<
    Record<"upstreamKey" | "upstreamHmac" | "webhookToken" | "referenceKey" | "replayKey" | "webhookKey", ISecret>
  >;

  constructor(scope: Construct, id: string, { adopt, ...props }: DataProps) {
    super(scope, id, props);
    this.access = adopt
      ? Table.fromTableName(this, "Access", adopt.accessTableName)
      : durableTable(this, "Access", tables.access);
    this.ledger = adopt
      ? Table.fromTableAttributes(this, "Ledger", {
          tableName: adopt.ledgerTableName,
          tableStreamArn: adopt.ledgerStreamArn,
          globalIndexes: tables.ledger.indexes.map(({ name }) => name),
        })
      : durableTable(this, "Ledger", tables.ledger);
    this.cache = makeTable(this, "Cache", tables.cache, RemovalPolicy.DESTROY);
    this.secrets = {
      upstreamKey: filledByOperator(this, "UpstreamKey", "The upstream's live key"),
      upstreamHmac: filledByOperator(this, "UpstreamHmac", "The key with which the upstream signs its events, if it does"),
      webhookToken: generated(this, "WebhookToken", "The end of the path at which the upstream reports", RemovalPolicy.DESTROY),
      referenceKey: adopt
        ? Secret.fromSecretCompleteArn(this, "ReferenceKey", adopt.referenceKeySecretArn)
        : generated(this, "ReferenceKey", "Names transactions; never rotated", RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE),
      replayKey: generated(this, "ReplayKey", "Seals identity results for 10 minutes", RemovalPolicy.DESTROY),
      webhookKey: adopt
        ? Secret.fromSecretCompleteArn(this, "WebhookKey", adopt.webhookKeySecretArn)
        : generated(this, "WebhookKey", "Seals the accounts' webhook secrets", RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE),
    };
  }
}

/** Kept when the stack goes, protected from deletion, and restorable to any second of the last 35 days. */
const durableTable = (scope: Construct, id: string, shape: TableShape): Table =>
  makeTable(scope, id, shape, RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);

const makeTable = (scope: Construct, id: string, shape: TableShape, removalPolicy: RemovalPolicy): Table => {
  const isDurable = removalPolicy !== RemovalPolicy.DESTROY;
  const attribute = (name: string) => ({ name, type: AttributeType.STRING });
  const table = new Table(scope, id, {
    partitionKey: attribute(shape.partition),
    billingMode: BillingMode.PAY_PER_REQUEST,
    encryption: TableEncryption.AWS_MANAGED,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: isDurable },
    deletionProtection: isDurable,
    removalPolicy,
    ...(shape.ttl && { timeToLiveAttribute: shape.ttl }),
    ...(shape.stream && { stream: StreamViewType.NEW_AND_OLD_IMAGES }),
  });
  for (const { name, partition, sort, includes } of shape.indexes) {
    table.addGlobalSecondaryIndex({
      indexName: name,
      partitionKey: attribute(partition),
      ...(sort && { sortKey: attribute(sort) }),
      ...(includes
        ? { projectionType: ProjectionType.INCLUDE, nonKeyAttributes: [...includes] }
        : { projectionType: ProjectionType.KEYS_ONLY }),
    });
  }
  return table;
};

const generated = (scope: Construct, id: string, description: string, removalPolicy: RemovalPolicy): Secret =>
  new Secret(scope, id, {
    description,
    generateSecretString: { passwordLength: 43, excludePunctuation: true },
    removalPolicy,
  });

/** Made without a value: until the operator sets one (`npm run admin -- secrets set`), it counts as absent. */
const filledByOperator = (scope: Construct, id: string, description: string): ISecret => {
  const { ref } = new CfnSecret(scope, id, { description });
  return Secret.fromSecretCompleteArn(scope, `${id}Reference`, ref);
};
