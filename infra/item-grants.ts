import type { AccessItemKind, FunctionSpec, TableGrants, TableName } from "../functions/function-spec.ts";
import { COUNTER_NAMES } from "../shared/access/key-store.ts";
import { auditKeyPattern, keyPatternOf, type LedgerItemKind } from "../shared/ledger/schema.ts";
import { cacheKeyPattern } from "../shared/platform/cache-keys.ts";
import type { TableIndex } from "./tables.ts";

type Condition = Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>;
/** Actions of DynamoDB that are allowed under one condition, or under none. */
export type ItemGrant = { readonly actions: readonly string[]; readonly condition: Condition | undefined };

/** What IAM allows a function on the items of each table. */
export const itemGrants = ({
  access = {},
  ledger = {},
  audit = {},
  cache = {},
}: NonNullable<FunctionSpec["tables"]>): Readonly<Record<TableName, readonly ItemGrant[]>> => ({
  access: grantsOf(access, accessCondition),
  ledger: [
    ...grantsOf(ledger, (kinds, action) =>
      action === "UpdateItem" && ledger.updatedAttributes !== undefined
        ? onlyAttributes(ledger.updatedAttributes, kinds.map(keyPatternOf))
        : onlyKeys(kinds.map(keyPatternOf)),
    ),
    ...(ledger.readsInPart ? [partGrant(ledger.readsInPart)] : []),
  ],
  audit: grantsOf(audit, (kinds) => onlyKeys(kinds.map(auditKeyPattern))),
  cache: grantsOf(cache, (kinds) => onlyKeys(kinds.map(cacheKeyPattern))),
});

/** Actions with the same condition are one grant, because IAM limits the size of a role's policies. */
const grantsOf = <Kind>(
  grants: TableGrants<Kind>,
  conditionOf: (kinds: readonly Kind[], action: string) => Condition | undefined,
): readonly ItemGrant[] => {
  const { reads, Query, PutItem, UpdateItem, ConditionCheckItem } = grants;
  const byCondition = new Map<string, ItemGrant>();
  const all = { GetItem: reads, BatchGetItem: reads, Query, PutItem, UpdateItem, ConditionCheckItem };
  for (const [action, kinds] of Object.entries(all)) {
    if (kinds === undefined) continue;
    const condition = conditionOf(kinds, action);
    const id = JSON.stringify(condition) ?? "";
    byCondition.set(id, {
      actions: [...(byCondition.get(id)?.actions ?? []), `dynamodb:${action}`],
      condition,
    });
  }
  return [...byCondition.values()];
};

/**
 * Only items with these keys. A request without a key would match `ForAllValues` too. Source: AWS, "Using IAM policy
 * conditions for fine-grained access control"; "Multivalued context keys".
 */
export const onlyKeys = (patterns: readonly string[]): Condition => ({
  "ForAllValues:StringLike": { "dynamodb:LeadingKeys": patterns },
  Null: { "dynamodb:LeadingKeys": "false" },
});

/** All items but those with these keys; not a request without a key either. */
export const otherKeys = (patterns: readonly string[]): Condition => ({
  "ForAllValues:StringNotLike": { "dynamodb:LeadingKeys": patterns },
  Null: { "dynamodb:LeadingKeys": "false" },
});

/**
 * Only these attributes, of the items with these keys if there are any: a request names them in its update, its condition and
 * its key. The answer may have all attributes. Source: AWS, "Using IAM policy conditions for fine-grained access control":
 * conditions on attributes are evaluated only for attributes of the request.
 */
const onlyAttributes = (names: readonly string[], keys: readonly string[] = []): Condition => {
  const { "ForAllValues:StringLike": keysLike, Null: withKeys } = keys.length > 0 ? onlyKeys(keys) : {};
  return {
    "ForAllValues:StringLike": { ...keysLike, "dynamodb:Attributes": ["pk", ...names] },
    Null: { ...withKeys, "dynamodb:Attributes": "false" },
  };
};

/** Attributes that are not named are not returned either. Source: the same, "Ensuring attribute-based restrictions are enforced". */
const inPart = (condition: Condition): Condition => ({
  ...condition,
  StringEqualsIfExists: { "dynamodb:Select": "SPECIFIC_ATTRIBUTES" },
});
const partGrant = ({
  kinds,
  attributes,
}: {
  readonly kinds: readonly LedgerItemKind[];
  readonly attributes: readonly string[];
}): ItemGrant => ({
  actions: ["dynamodb:BatchGetItem"],
  condition: inPart(onlyAttributes(attributes, kinds.map(keyPatternOf))),
});

/** Of an index nothing but the keys of its items. */
export const onlyIndexKeys = (indexes: readonly TableIndex[]): Condition =>
  inPart(onlyAttributes([...new Set(indexes.flatMap(({ partition, sort }) => [partition, ...(sort ? [sort] : [])]))]));

/** A function that only counts requests; admission reads the key with the same write. */
const accessCondition = (kinds: readonly AccessItemKind[]): Condition | undefined =>
  kinds.includes("key") ? undefined : onlyAttributes([COUNTER_NAMES]);
