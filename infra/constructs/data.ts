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
import type { TableName } from "../../functions/function-spec.ts";
import { type SecretName, type SecretVariable, secretIds, secretTable } from "../../shared/platform/secret-table.ts";
import { outputOf } from "../outputs.ts";
import type { StageSettings } from "../stages.ts";
import { type TableShape, tables } from "../tables.ts";
import { acknowledge } from "./acknowledge.ts";
import { TableBackups } from "./table-backups.ts";

export interface DataProps extends StackProps {
  readonly stage: string;
  readonly adopt?: StageSettings["adopt"];
  readonly recovery?: StageSettings["recovery"];
}

export const tableNames = ["access", "ledger", "cache"] as const satisfies readonly TableName[];

/** The tables and the secrets: what must not be lost, and what can be made again. */
export class Data extends Stack {
  readonly tables: Readonly<Record<TableName, ITable>>;
  readonly secretArns: Readonly<Record<SecretVariable, string>>;

  constructor(scope: Construct, id: string, { stage, adopt, recovery, ...props }: DataProps) {
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
    this.secretArns = secretIds((name) => this.secret(secretTable[name], { adopt, recovery }).secretArn);
    if (recovery) {
      new TableBackups(this, "Backups", { stage, recovery, tables: [this.tables.access, this.tables.ledger] });
    }
  }

  private secret(
    spec: (typeof secretTable)[SecretName],
    { adopt, recovery }: Pick<DataProps, "adopt" | "recovery">,
  ): ISecret {
    // `UPSTREAM_KEY_SECRET_ID` is `UpstreamKey` on AWS.
    const id = outputOf(spec.variable.replace(/_SECRET_ID$/, ""));
    switch (spec.kind) {
      case "filled":
        return filledByOperator(this, id, spec.description);
      case "generated":
        return rotatable(this, id, spec.description);
      case "fixed":
        return adopt
          ? Secret.fromSecretCompleteArn(this, id, adopt[spec.adoptedAs])
          : neverRotated(this, id, spec.description, recovery?.region);
    }
  }
}

/**
 * Retained when the stack is deleted, protected from deletion, and restorable to any second of the last 35 days.
 * Retained even if the stack's creation fails: a rollback that tried to delete a protected table would fail too.
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
  if (!isDurable) acknowledge(table, "DDB3", "It is a cache: its items can be fetched or made again");
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

/** The operator's command gives it a new value. */
const rotatable = (scope: Construct, id: string, description: string): Secret => {
  const secret = new Secret(scope, id, {
    description,
    generateSecretString: { passwordLength: 43, excludePunctuation: true },
    removalPolicy: RemovalPolicy.DESTROY,
  });
  acknowledge(secret, "SMG4", "The operator's command rotates it");
  return secret;
};

/**
 * A key that names or seals what is in the ledger. Never change anything here: a change of GenerateSecretString makes
 * AWS generate another value. With another reference key every earlier reference is unknown, and a replay buys twice.
 */
const neverRotated = (
  scope: Construct,
  id: string,
  description: string,
  recoveryRegion: string | undefined,
): Secret => {
  const secret = new Secret(scope, id, {
    description,
    generateSecretString: { passwordLength: 43, excludePunctuation: true },
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    // A change in place, which creates no version. The replica has the same value.
    ...(recoveryRegion !== undefined && { replicaRegions: [{ region: recoveryRegion }] }),
  });
  acknowledge(secret, "SMG4", "It never changes, because stored data depends on it");
  return secret;
};

/** Created without a value: it counts as absent until the operator sets one (`npm run admin -- secrets set`). */
const filledByOperator = (scope: Construct, id: string, description: string): ISecret => {
  const secret = new CfnSecret(scope, id, { description });
  acknowledge(secret, "SMG4", "The upstream issues it, and the operator replaces it");
  return Secret.fromSecretCompleteArn(scope, `${id}Reference`, secret.ref);
};
