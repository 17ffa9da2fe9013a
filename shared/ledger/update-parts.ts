/** A part of an update that is composed of several. */
export type UpdateParts = {
  readonly sets?: readonly string[];
  readonly adds?: readonly string[];
  readonly deletes?: readonly string[];
  readonly removes?: readonly string[];
  readonly conditions?: readonly string[];
  readonly names?: Readonly<Record<string, string>>;
  /** One that is undefined is left out. */
  readonly values?: Readonly<Record<string, unknown>>;
};

export const joinParts = (...parts: readonly UpdateParts[]): Required<UpdateParts> => ({
  sets: parts.flatMap(({ sets = [] }) => sets),
  adds: parts.flatMap(({ adds = [] }) => adds),
  deletes: parts.flatMap(({ deletes = [] }) => deletes),
  removes: parts.flatMap(({ removes = [] }) => removes),
  conditions: parts.flatMap(({ conditions = [] }) => conditions),
  names: Object.assign({}, ...parts.map(({ names }) => names)),
  values: Object.assign({}, ...parts.map(({ values }) => values)),
});

/** Sets attributes, except for those that are undefined, and removes others. */
export const setParts = (attributes: object, removed: readonly string[] = []): UpdateParts => {
  const sets = Object.entries(attributes).filter(([, value]) => value !== undefined);
  return {
    sets: sets.map(([name]) => `#${name} = :${name}`),
    removes: removed.map((name) => `#${name}`),
    names: Object.fromEntries([...sets.map(([name]) => name), ...removed].map((name) => [`#${name}`, name])),
    values: Object.fromEntries(sets.map(([name, value]) => [`:${name}`, value])),
  };
};

/** The update of these parts. DynamoDB refuses an empty clause, and empty names or values. */
export const updateOf = (...parts: readonly UpdateParts[]) => {
  const { sets, adds, deletes, removes, conditions, names, values } = joinParts(...parts);
  const clauses = Object.entries({ SET: sets, ADD: adds, DELETE: deletes, REMOVE: removes });
  return {
    UpdateExpression: clauses
      .flatMap(([action, members]) => (members.length > 0 ? [`${action} ${members.join(", ")}`] : []))
      .join(" "),
    ...(conditions.length > 0 && { ConditionExpression: conditions.join(" AND ") }),
    ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
    ...(Object.values(values).some((value) => value !== undefined) && { ExpressionAttributeValues: values }),
  };
};

/** The stored item is returned if a condition fails: it shows which part of it did. */
export const returned = { ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const };
