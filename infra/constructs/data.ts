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
import { acknowledge } from "./acknowledge.ts";

export interface DataProps extends StackProps {
  readonly adopt?: StageSettings["adopt"];
}

export type TableName = keyof typeof tables;
export type SecretName = "upstreamKey" | "upstreamHmac" | "webhookToken" | "referenceKey" | "replayKey" | "webhookKey";

/** What must not be lost, and what may: three tables and six secrets. */
export class Data extends Stack {
  readonly tables: Readonly<Record<TableName, ITable>>;
  readonly secrets: Readonly<Record<SecretName, ISecret>>;

  constructor(scope: Construct, id: string, { adopt, ...props }: DataProps) {
    super(scope, id, props);
    this.tables = {
      access: adopt
        ? Table.fromTableName(this, "Access", adopt.accessTableName)
        : durableTable(this, "Access", tables.access),
      ledger: adopt
        ? Table.fromTableAttributes(this, "Ledger", {
            tableName: adopt.ledgerTableName,
            tableStreamArn: adopt.ledgerStreamArn,
          })
        : durableTable(this, "Ledger", tables.ledger),
      cache: makeTable(this, "Cache", tables.cache, RemovalPolicy.DESTROY),
    };
    this.secrets = {
      upstreamKey: filledByOperator(this, "UpstreamKey", "The upstream's live key"),
      upstreamHmac: filledByOperator(
        this,
        "UpstreamHmac",
        "The key with which the upstream signs its events, if it does",
      ),
      webhookToken: generated(
        this,
        "WebhookToken",
        "The end of the path at which the upstream reports",
        RemovalPolicy.DESTROY,
      ),
      referenceKey: adopt
        ? Secret.fromSecretCompleteArn(this, "ReferenceKey", adopt.referenceKeySecretArn)
        : generated(
            this,
            "ReferenceKey",
            "Names transactions; never rotated",
            RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
          ),
      replayKey: generated(this, "ReplayKey", "Seals identity results for 10 minutes", RemovalPolicy.DESTROY),
      webhookKey: adopt
        ? Secret.fromSecretCompleteArn(this, "WebhookKey", adopt.webhookKeySecretArn)
        : generated(
            this,
            "WebhookKey",
            "Seals the accounts' webhook secrets",
            RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
          ),
    };
  }
}

/**
 * Kept when the stack goes, protected from deletion, and restorable to any second of the last 35 days. Kept even where the stack's
 * own creation fails: a rollback that tried to delete a protected table would fail too.
 */
const durableTable = (scope: Construct, id: string, shape: TableShape): Table =>
  makeTable(scope, id, shape, RemovalPolicy.RETAIN);

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
  if (!isDurable) acknowledge(table, "DDB3", "What it holds can be fetched or made again");
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

const generated = (scope: Construct, id: string, description: string, removalPolicy: RemovalPolicy): Secret => {
  const secret = new Secret(scope, id, {
    description,
    generateSecretString: { passwordLength: 43, excludePunctuation: true },
    removalPolicy,
  });
  acknowledge(
    secret,
    "SMG4",
    "It is rotated by the operator's command, or must stay as it is: it names or seals what is kept",
  );
  return secret;
};

/** Made without a value: until the operator sets one (`npm run admin -- secrets set`), it counts as absent. */
const filledByOperator = (scope: Construct, id: string, description: string): ISecret => {
  const secret = new CfnSecret(scope, id, { description });
  acknowledge(secret, "SMG4", "The upstream issues it; the operator replaces it");
  return Secret.fromSecretCompleteArn(scope, `${id}Reference`, secret.ref);
};
