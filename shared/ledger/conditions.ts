/** The condition of a put: the stored item has the version that was read, or there is none if that is 0. */
export const ifVersion = (read: number) =>
  read === 0
    ? { ConditionExpression: "attribute_not_exists(pk)" }
    : { ConditionExpression: "version = :read", ExpressionAttributeValues: { ":read": read } };
