import { expect, test } from "vitest";
import { setParts, updateOf } from "../../../../shared/ledger/update-parts.ts";

test("parts are joined to one update, without the clauses, names and values that none of them has", () => {
  const one = { sets: ["a = :a"], adds: ["n :n"], conditions: ["b = :b"], values: { ":a": 1, ":n": 2, ":b": 3 } };
  const other = { sets: ["c = :c"], deletes: ["s :s"], removes: ["d"], conditions: ["e = :c"], values: { ":c": 4 } };
  expect(updateOf(one, other)).toEqual({
    UpdateExpression: "SET a = :a, c = :c ADD n :n DELETE s :s REMOVE d",
    ConditionExpression: "b = :b AND e = :c",
    ExpressionAttributeValues: { ":a": 1, ":n": 2, ":b": 3, ":c": 4 },
  });
  expect(updateOf({ removes: ["d"], values: { ":a": undefined } })).toEqual({ UpdateExpression: "REMOVE d" });
});

test("attributes are set by their names, but for undefined ones, and others are removed", () => {
  expect(updateOf(setParts({ state: "open", why: undefined }, ["listed_at"]))).toEqual({
    UpdateExpression: "SET #state = :state REMOVE #listed_at",
    ExpressionAttributeNames: { "#state": "state", "#listed_at": "listed_at" },
    ExpressionAttributeValues: { ":state": "open" },
  });
});
