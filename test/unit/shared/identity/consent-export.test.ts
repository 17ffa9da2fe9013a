import { describe, expect, test } from "vitest";
import type { Consent } from "../../../../shared/identity/consent.ts";
import {
  consentLine,
  type ExportHeader,
  headerLine,
  verifyExport,
} from "../../../../shared/identity/consent-export.ts";
import { consentPk, transactionPk } from "../../../../shared/ledger/schema.ts";
import { footerLine } from "../../../../shared/platform/chained-lines.ts";

/** Goal: an export is accepted to the byte as it was written, and otherwise the wrong line is named. */
const header: ExportHeader = {
  account: "acc_1",
  from: null,
  to: "2026-11-21T12:00:00.000Z",
  exported_at: "2026-11-21T13:00:00.000Z",
};

const consent = (index: number): Consent => ({
  pk: consentPk({ pk: transactionPk(`${"0".repeat(25)}${index}`) }),
  account_id: "acc_1",
  key_id: "key_1",
  mode: "live",
  subject: `subject-hash-${index}`,
  subject_key: "mrk-1",
  operation: "nin_verification",
  extent: "basic",
  ...(index % 2 === 0 && {
    purpose: `opening of account ${index}`,
    evidence: {
      ...{ method: "otp", id: `otp-${index}`, obtained_at: "2026-11-21T00:00:00.000Z", text_version: "terms-3" },
      ...{ of_a_later_release: true },
    },
  }),
  request_id: `request-${index}`,
  created_at: `2026-11-21T0${index}:00:00.000Z`,
});

/** The lines of an export of this many consents, beginning with the header. */
const anExport = (count: number): string[] => {
  const { line, end: first } = headerLine(header);
  const lines = [line];
  let end = first;
  for (let index = 1; index <= count; index += 1) {
    const next = consentLine(end, consent(index));
    lines.push(next.line);
    end = next.end;
  }
  return [...lines, footerLine(end)];
};

const verify = (lines: readonly string[]) => verifyExport(`${lines.join("\n")}\n`);

describe("an export", () => {
  test("is whole as it was written, with and without consents and with and without its last line end", () => {
    for (const count of [0, 1, 5]) {
      expect(verify(anExport(count))).toMatchObject({ isWhole: true, header, end: { count } });
      expect(verifyExport(anExport(count).join("\n"))).toMatchObject({ isWhole: true });
    }
  });

  test("has the keys of each line in a fixed order, the reference in place of the key, and no subject", () => {
    const [first, second, third, last] = anExport(2);
    expect(first).toBe(
      '{"account":"acc_1","from":null,"to":"2026-11-21T12:00:00.000Z","exported_at":"2026-11-21T13:00:00.000Z"}',
    );
    expect(second).toMatch(
      /^\{"number":1,"previous":"[0-9a-f]{64}","reference":"VERIFY_0{25}1","key_id":"key_1","mode":"live","operation":"nin_verification","extent":"basic","purpose":null,"evidence":null,"created_at":"2026-11-21T01:00:00\.000Z","request_id":"request-1"\}$/,
    );
    expect(third).toContain(
      '"purpose":"opening of account 2","evidence":{"method":"otp","id":"otp-2","obtained_at":"2026-11-21T00:00:00.000Z","text_version":"terms-3"},"created_at"',
    );
    expect(last).toMatch(/^\{"count":2,"hash":"[0-9a-f]{64}"\}$/);
    expect([first, second, third, last].join()).not.toContain("subject");
  });
});

describe("a wrong line", () => {
  const changedAt = (index: number, change: (line: string) => string): string[] =>
    anExport(5).map((line, at) => (at === index ? change(line) : line));

  test("is named if a consent was changed, wherever it is", () => {
    for (const index of [1, 3, 5]) {
      const wrong = verify(changedAt(index, (line) => line.replace("key_1", "key_2")));
      expect(wrong).toMatchObject({ isWhole: false, line: index + 1 });
      expect(wrong).toMatchObject({ problem: expect.stringContaining("changed") });
    }
  });

  test("is named if only the hash of the line before it was changed", () => {
    const wrong = verify(changedAt(3, (line) => line.replace(/"previous":"./, '"previous":"x')));
    expect(wrong).toEqual({ isWhole: false, line: 4, problem: "it was changed" });
  });

  test("is named if it has the same fields with other spaces, another order or one more", () => {
    const rewritten = [
      (line: string) => line.replace('":', '": '),
      (line: string) => line.replace(/^\{("number":\d+),("previous":"\w+")/, "{$2,$1"),
      (line: string) => line.replace(/\}$/, ',"extra":1}'),
      () => "",
      () => "[]",
    ];
    for (const change of rewritten) expect(verify(changedAt(3, change))).toMatchObject({ isWhole: false, line: 4 });
  });

  test("is the one behind a removed consent", () => {
    const lines = anExport(5);
    expect(verify(lines.toSpliced(3, 1))).toEqual({
      isWhole: false,
      line: 4,
      problem: "consent 3 was removed before it",
    });
    expect(verify(lines.toSpliced(1, 3))).toEqual({
      isWhole: false,
      line: 2,
      problem: "consents 1 to 3 were removed before it",
    });
  });

  test("is the first one that is not in its place if consents were moved", () => {
    const [head = "", one = "", two = "", ...others] = anExport(5);
    expect(verify([head, two, one, ...others])).toEqual({
      isWhole: false,
      line: 2,
      problem: "consent 2 is here instead of consent 1, which is on line 3",
    });
  });

  test("is an added one", () => {
    const lines = anExport(5);
    expect(verify(lines.toSpliced(4, 0, lines[2] ?? ""))).toMatchObject({ line: 5 });
    const [, copied = ""] = anExport(1);
    expect(verify(lines.toSpliced(6, 0, copied))).toEqual({
      isWhole: false,
      line: 7,
      problem: "consent 1 is on line 2 already: this line was added",
    });
  });

  test("is the footer if the last consents were removed, or one was added with the right number and hash", () => {
    const lines = anExport(5);
    expect(verify(lines.toSpliced(4, 2))).toMatchObject({
      line: 5,
      problem: "the footer counts 5 consents, and the file has 3: the last ones were removed",
    });
    const longer = anExport(6);
    expect(verify([...longer.slice(0, -1), lines.at(-1) ?? ""])).toMatchObject({
      line: 8,
      problem: "the footer counts 5 consents, and the file has 6: the last ones were added",
    });
  });

  test("is behind the end if the file was cut off, also within a line", () => {
    const lines = anExport(5);
    expect(verify(lines.slice(0, -1))).toMatchObject({ line: 7, problem: expect.stringContaining("cut off") });
    expect(verifyExport(lines.join("\n").slice(0, -300))).toMatchObject({ isWhole: false, line: 6 });
  });

  test("is the header if it was changed, removed or never there", () => {
    expect(verify(changedAt(0, (line) => line.replace("acc_1", "acc_2")))).toEqual({
      isWhole: false,
      line: 1,
      problem: "it was changed",
    });
    for (const lines of [anExport(5).slice(1), [""], ["{}"], ["not JSON"]]) {
      expect(verify(lines)).toMatchObject({ isWhole: false, line: 1 });
    }
  });
});
