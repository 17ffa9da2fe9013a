import { Duration, RemovalPolicy, Stack, type StackProps } from "aws-cdk-lib";
import {
  AttributeType,
  BillingMode,
  type ITable,
  ProjectionType,
  StreamViewType,
  Table,
  TableEncryption,
} from "aws-cdk-lib/aws-dynamodb";
import { AccountRootPrincipal, AnyPrincipal, Effect, PolicyDocument, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { Alias, Key, KeySpec, KeyUsage } from "aws-cdk-lib/aws-kms";
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type IBucket,
  ObjectLockRetention,
  ObjectOwnership,
} from "aws-cdk-lib/aws-s3";
import { CfnSecret, type ISecret, Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { Construct } from "constructs";
import type { TableName } from "../../functions/function-spec.ts";
import { type SecretName, type SecretVariable, secretIds, secretTable } from "../../shared/platform/secret-table.ts";
import { outputOf, stackName } from "../outputs.ts";
import type { StageSettings } from "../stage-settings.ts";
import { auditDenials, type TableShape, tables } from "../tables.ts";
import { acknowledge } from "./acknowledge.ts";
import { TableBackups } from "./table-backups.ts";

export interface DataProps extends StackProps {
  readonly stage: string;
  readonly adopt?: StageSettings["adopt"];
  readonly recovery?: StageSettings["recovery"];
  readonly identityKeyArn?: StageSettings["identityKeyArn"];
  readonly auditCopy?: StageSettings["auditCopy"];
  /** The stage has checked people whose consents are kept, so its key must outlive the stack. */
  readonly sells: boolean;
}

export const tableNames = ["access", "ledger", "audit", "cache"] as const satisfies readonly TableName[];

/** The tables, secrets and the identity key: what must not be lost, and what can be made again. */
export class Data extends Stack {
  readonly tables: Readonly<Record<TableName, ITable>>;
  /** Absent if the stage copies no audit entries. */
  readonly auditCopy: IBucket | undefined;
  readonly secretArns: Readonly<Record<SecretVariable, string>>;
  readonly identityKeyArn: string;

  constructor(scope: Construct, id: string, dataProps: DataProps) {
    const { stage, adopt, recovery, identityKeyArn, auditCopy, sells, ...props } = dataProps;
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
      audit: adopt
        ? Table.fromTableAttributes(this, "Audit", {
            tableName: adopt.auditTableName,
            tableStreamArn: adopt.auditStreamArn,
          })
        : durableTable(this, "Audit", tables.audit, appendOnly()),
      cache: makeTable(this, "Cache", tables.cache, RemovalPolicy.DESTROY),
    };
    this.auditCopy = auditCopy && lockedBucket(this, stage, auditCopy.days);
    this.secretArns = secretIds((name) => this.secret(secretTable[name], { adopt, recovery }).secretArn);
    this.identityKeyArn = identityKeyArn ?? identityKey(this, stage, sells).keyArn;
    if (recovery) {
      const { access, ledger, audit } = this.tables;
      new TableBackups(this, "Backups", { stage, recovery, tables: [access, ledger, audit] });
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
        return generated(this, id, spec.description);
      case "fixed":
        return adopt
          ? Secret.fromSecretCompleteArn(this, id, adopt[spec.adoptedAs])
          : generated(this, id, spec.description, { recoveryRegion: recovery?.region });
    }
  }
}

/**
 * Retained when the stack is deleted, protected from deletion, and restorable to any second of the last 35 days.
 * Retained even if the stack's creation fails: a rollback that tried to delete a protected table would fail too.
 */
const durableTable = (scope: Construct, id: string, shape: TableShape, resourcePolicy?: PolicyDocument): Table =>
  makeTable(scope, id, shape, RemovalPolicy.RETAIN, resourcePolicy);

/**
 * Nobody can delete an object in its days, or shorten them: S3 refuses that to the root user too. Besides, its policy denies
 * everybody to delete one later, and to put one, except for the function that copies entries, whose role is named by a
 * pattern, as in the policy of the identity key.
 */
const lockedBucket = (stack: Stack, stage: string, days: number): Bucket => {
  const bucket = new Bucket(stack, "AuditCopy", {
    objectLockEnabled: true,
    objectLockDefaultRetention: ObjectLockRetention.compliance(Duration.days(days)),
    versioned: true,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    encryption: BucketEncryption.S3_MANAGED,
    enforceSSL: true,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  });
  const writer = `arn:${stack.partition}:iam::${stack.account}:role/${stackName(stage, "Service")}-CopyAuditRole*`;
  const deny = (actions: string[], conditions: object): void => {
    bucket.addToResourcePolicy(
      new PolicyStatement({
        effect: Effect.DENY,
        principals: [new AnyPrincipal()],
        actions,
        resources: [bucket.arnForObjects("*")],
        conditions: { ...conditions },
      }),
    );
  };
  deny(["s3:DeleteObject", "s3:DeleteObjectVersion"], {});
  deny(["s3:PutObject"], { ArnNotLike: { "aws:PrincipalArn": writer } });
  // The CDK gives a policy no removal policy of its own: it would go with the stack, and the bucket would stay without it.
  bucket.policy?.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
  acknowledge(bucket, "S1", "It is a log itself; AWS CloudTrail's data events say who reads it");
  return bucket;
};

/**
 * Denies everybody, administrators too, to change or delete an item, or to have it expire: they would have to change this
 * policy first. A put over another item cannot be denied, because IAM has no key for a request's condition expression;
 * the table's stream shows it to `attest-audit`. docs/recovery.md sets the same policy on a restored table.
 */
const appendOnly = (): PolicyDocument =>
  new PolicyDocument({
    statements: [
      new PolicyStatement({
        effect: Effect.DENY,
        principals: [new AnyPrincipal()],
        actions: [...auditDenials],
        // The table's own ARN would be a circle in the template.
        resources: ["*"],
      }),
    ],
  });

const makeTable = (
  scope: Construct,
  id: string,
  shape: TableShape,
  removalPolicy: RemovalPolicy,
  resourcePolicy?: PolicyDocument,
): Table => {
  const isDurable = removalPolicy !== RemovalPolicy.DESTROY;
  const attribute = (name: string) => ({ name, type: AttributeType.STRING });
  const table = new Table(scope, id, {
    partitionKey: attribute(shape.partition),
    ...(shape.sort && { sortKey: attribute(shape.sort) }),
    ...(resourcePolicy && { resourcePolicy }),
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

/**
 * A value that AWS generates. Never change anything of one that is kept, which names or seals what is in the ledger: a
 * change of GenerateSecretString makes AWS generate another value. With another reference key every earlier reference is
 * unknown, and a replay buys twice.
 */
const generated = (
  scope: Construct,
  id: string,
  description: string,
  kept?: { readonly recoveryRegion: string | undefined },
): Secret => {
  const secret = new Secret(scope, id, {
    description,
    generateSecretString: { passwordLength: 43, excludePunctuation: true },
    removalPolicy: kept ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
    // A change in place, which creates no version. The replica has the same value.
    ...(kept?.recoveryRegion !== undefined && { replicaRegions: [{ region: kept.recoveryRegion }] }),
  });
  acknowledge(
    secret,
    "SMG4",
    kept ? "It never changes, because stored data depends on it" : "The operator's command rotates it",
  );
  return secret;
};

/** Created without a value: it counts as absent until the operator sets one (`npm run admin -- secrets set`). */
const filledByOperator = (scope: Construct, id: string, description: string): ISecret => {
  const secret = new CfnSecret(scope, id, { description });
  acknowledge(secret, "SMG4", "The upstream issues it, and the operator replaces it");
  return Secret.fromSecretCompleteArn(scope, `${id}Reference`, secret.ref);
};

/**
 * The key that hashes the numbers of identity checks. Multi-region, so that a replica hashes alike in another region. Never
 * change its spec or that: CloudFormation would make another key.
 */
const identityKey = (stack: Stack, stage: string, sells: boolean): Key => {
  const key = new Key(stack, "IdentityKey", {
    description: `Hashes the numbers of identity checks of ${stage}`,
    keySpec: KeySpec.HMAC_256,
    keyUsage: KeyUsage.GENERATE_VERIFY_MAC,
    multiRegion: true,
    policy: onlyForItsFunctions(stack, stage),
    removalPolicy: sells ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
  });
  // For people: the function has the key's ARN.
  new Alias(stack, "IdentityKeyAlias", { aliasName: `alias/${stage}-airtime-identity`, targetKey: key });
  return key;
};

/** What administers a key and does not use it. `kms:CreateGrant` is missing, because a grant could let anybody use it. */
const KEY_ADMINISTRATION = [
  ...["CancelKeyDeletion", "CreateAlias", "DeleteAlias", "DescribeKey", "DisableKey", "EnableKey", "GetKeyPolicy"],
  ...["GetKeyRotationStatus", "ListAliases", "ListGrants", "ListKeyPolicies", "ListResourceTags", "PutKeyPolicy"],
  ...["ReplicateKey", "ScheduleKeyDeletion", "TagResource", "UntagResource", "UpdateAlias", "UpdateKeyDescription"],
  "UpdatePrimaryRegion",
].map((action) => `kms:${action}`);

/**
 * Lets the policies of the account administer the key, and the roles of two functions use it, if their own policies allow
 * that too: the one that checks identities, and the one that answers a person who asks. The roles are
 * named by patterns: the service's stack, which makes them, comes later, and one that is named by its ARN becomes a dead id
 * in the policy when it is deleted.
 */
const onlyForItsFunctions = (stack: Stack, stage: string): PolicyDocument => {
  const roles = ["CheckIdentity", "AnswerSubjects"].map(
    (name) => `arn:${stack.partition}:iam::${stack.account}:role/${stackName(stage, "Service")}-${name}Role*`,
  );
  return new PolicyDocument({
    statements: [
      new PolicyStatement({
        principals: [new AccountRootPrincipal()],
        actions: KEY_ADMINISTRATION,
        resources: ["*"],
      }),
      new PolicyStatement({
        principals: [new AccountRootPrincipal()],
        actions: ["kms:GenerateMac"],
        resources: ["*"],
        conditions: {
          ArnLike: { "aws:PrincipalArn": roles },
          StringEquals: { "kms:MacAlgorithm": "HMAC_SHA_256" },
        },
      }),
    ],
  });
};
