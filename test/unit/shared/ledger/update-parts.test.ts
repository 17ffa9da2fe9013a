import { expect, test } from "vitest";
import { updateOf } from "../../../../shared/ledger/update-parts.ts";

test("parts are joined to one update, without the clauses that none of them has", () => {
  const one = { sets: ["a = :a"], adds: ["n :n"], conditions: ["b = :b"], values: { ":a": 1, ":n": 2, ":b": 3 } };
  const other = { sets: ["c = :c"], removes: ["d"], conditions: ["e = :c"], values: { ":c": 4 } };
  const returned = { ReturnValuesOnConditionCheckFailure: "ALL_OLD" };
  expect(updateOf(one, other)).toEqual({
    UpdateExpression: "SET a = :a, c = :c ADD n :n REMOVE d",
    ConditionExpression: "b = :b AND e = :c",
    ExpressionAttributeValues: { ":a": 1, ":n": 2, ":b": 3, ":c": 4 },
    ...returned,
  });
  expect(updateOf({ adds: ["n :n"], values: { ":n": 1 } }).UpdateExpression).toBe("ADD n :n");
  expect(updateOf({ removes: ["d"] })).toEqual({
    ...{ UpdateExpression: "REMOVE d", ConditionExpression: "", ExpressionAttributeValues: {} },
    ...returned,
  });
});
