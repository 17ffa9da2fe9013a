import { expect, test } from "vitest";
import { newStatement, type Statement } from "../../../../shared/upstream-statement/statement.ts";
import type { StatementCase } from "../../../../shared/upstream-statement/statement-case.ts";
import { caseLine, packHeaderLine, packHeaderOf } from "../../../../shared/upstream-statement/statement-pack.ts";

const day = "2026-11-21";
const [from, to] = ["2026-11-20T23:00:00.000Z", "2026-11-21T23:00:00.000Z"];
const at = "2026-11-22T12:00:00.000Z";
const LATER = { of_a_later_release: true };

test("a signed-off day is exported with its known fields in their order, and without those of a later release", () => {
  const total = { class: "matched" as const, count: 1, ours_kobo: 100, theirs_kobo: 100, ...LATER };
  const statement: Statement = {
    ...newStatement(day, { from, to }, at),
    closing: { balance_kobo: 100, at, ...LATER },
    compared: { revision: 1, at, totals: [total], ...LATER },
    signed_off: { by: "ada", at, why: "test", ...LATER },
  };
  const header = packHeaderOf(statement);
  if (header === undefined) throw new Error("The day is signed off");
  const first = packHeaderLine(header);
  const decided: StatementCase = {
    ...{
      pk: "",
      list_key: "",
      day,
      case_id: "clock",
      facts: { class: "clock_differs", ahead_ms: 1 },
      state: "decided",
    },
    decisions: [{ decision: "explained", why: "test", by: "ada", at, ...LATER }],
    ...{ version: 1, created_at: at, updated_at: at },
  };
  expect(first.line).toBe(
    `{"day":"${day}","from":"${from}","to":"${to}","closing":{"balance_kobo":100,"at":"${at}"},"files":[],"compared":{"revision":1,"at":"${at}","totals":[{"class":"matched","count":1,"ours_kobo":100,"theirs_kobo":100}]},"signed_off":{"by":"ada","at":"${at}","why":"test"}}`,
  );
  expect(caseLine(first.end, decided).line).toBe(
    `{"number":1,"previous":"${first.end.hash}","case_id":"clock","state":"decided","facts":{"class":"clock_differs","ahead_ms":1},"decisions":[{"decision":"explained","why":"test","by":"ada","at":"${at}"}],"created_at":"${at}"}`,
  );
});
