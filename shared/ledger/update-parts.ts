/** A part of an update that is composed of several. */
export type UpdateParts = {
  readonly sets?: readonly string[];
  readonly adds?: readonly string[];
  readonly removes?: readonly string[];
  readonly conditions?: readonly string[];
  readonly values?: Readonly<Record<string, unknown>>;
};

export const joinParts = (...parts: readonly UpdateParts[]): Required<UpdateParts> => ({
  sets: parts.flatMap(({ sets = [] }) => sets),
  adds: parts.flatMap(({ adds = [] }) => adds),
  removes: parts.flatMap(({ removes = [] }) => removes),
  conditions: parts.flatMap(({ conditions = [] }) => conditions),
  values: Object.assign({}, ...parts.map(({ values }) => values)),
});

/** The update of these parts; its item is returned if a condition fails, and shows which part of it did. */
export const updateOf = (...parts: readonly UpdateParts[]) => {
  const { sets, adds, removes, conditions, values } = joinParts(...parts);
  return {
    UpdateExpression: [
      ...(sets.length > 0 ? [`SET ${sets.join(", ")}`] : []),
      ...(adds.length > 0 ? [`ADD ${adds.join(", ")}`] : []),
      ...(removes.length > 0 ? [`REMOVE ${removes.join(", ")}`] : []),
    ].join(" "),
    ConditionExpression: conditions.join(" AND "),
    ExpressionAttributeValues: values,
    ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
  };
};
