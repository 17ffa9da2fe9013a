import { describe, expect, test } from "vitest";
import { conforms, type Report, resultOf, type Sale, scorecardOf } from "../../../../tools/conformance/scorecard.ts";

const report = (answer: Partial<Report["answer"]>, transaction?: Report["transaction"]): Report => ({
  reference: "kit-1-1",
  answer: { id: "1", result: "success", ...answer },
  transaction,
});
const sale = (deliveries: number, ...reports: readonly Report[]): Sale => ({
  name: "kit-1",
  isDecided: true,
  reports,
  deliveries,
  asOrdered: deliveries,
});
const delivered = { reference: "DATA_1", status: "success" } as const;
const failed = { reference: "DATA_1", status: "failed" } as const;

const ran = {
  ...{ seed: 1, seconds: 2, unknown: 0, ordered_again: 0, client_kills: 0, service_kills: 0 },
  ...{ charged_naira: 500, delivered_naira: 500, faults: { passed: 1 } },
};

test("a client that conforms ends the command with exit code 0, and another with 1 and its findings", () => {
  const good = { ...scorecardOf([sale(1, report({}, delivered))]), ...ran };
  expect(resultOf(good, { json: false })).toEqual({
    text: expect.stringMatching(/^The client conforms\.$/m),
    exitCode: 0,
  });
  const bad = { ...scorecardOf([sale(2, report({}, delivered))]), ...ran };
  const { text, exitCode } = resultOf(bad, { json: false });
  expect(exitCode).toBe(1);
  expect(text).toMatch(/^ {2}kit-1 was delivered 2 times$/m);
  expect(text).toMatch(/^The client does not conform to the retry rule of docs\/clients\.md\.$/m);
});

test("with --json the command prints the run as JSON, and ends with the same exit code", () => {
  const bad = { ...scorecardOf([sale(2, report({}, delivered))]), ...ran };
  const { text, exitCode } = resultOf(bad, { json: true });
  expect(JSON.parse(text)).toEqual({ conforms: false, ...bad });
  expect(exitCode).toBe(1);
});

describe("the scorecard of a client", () => {
  test("the scorecard has nothing against a client that reports each delivery and each failure as it is", () => {
    const scorecard = scorecardOf([
      sale(1, report({ reference: "DATA_1" }, delivered)),
      sale(1, report({ result: "failed", reference: "DATA_1" }, failed), report({}, delivered)),
      sale(1, report({ result: "processing" }, delivered)),
    ]);
    expect(scorecard).toEqual({ ordered: 3, delivered: 3, double: 0, lost: 0, wrongly_reported: 0, findings: [] });
    expect(conforms(scorecard)).toBe(true);
  });

  const against: readonly (readonly [string, Sale, object])[] = [
    ["a double delivery", sale(2, report({}, delivered)), { double: 1, findings: ["kit-1 was delivered 2 times"] }],
    [
      "a success of what was never delivered",
      sale(0, report({})),
      {
        lost: 1,
        wrongly_reported: 1,
        findings: ["kit-1 was never delivered", "kit-1-1 was reported as success, but nothing was delivered"],
      },
    ],
    [
      "the delivery of something else",
      { ...sale(1, report({}, delivered)), asOrdered: 0 },
      {
        lost: 1,
        wrongly_reported: 1,
        findings: [
          "kit-1 was never delivered as ordered",
          "kit-1-1 was reported as success, but something else was delivered",
        ],
      },
    ],
    [
      "an order that was not decided",
      { ...sale(0), isDecided: false },
      { lost: 1, findings: ["kit-1 was never delivered, and not decided"] },
    ],
    [
      "a failure of what was delivered",
      sale(1, report({ result: "failed", error: "timeout" }, delivered)),
      { wrongly_reported: 1, findings: ["kit-1-1 was reported as failed (timeout), but DATA_1 was delivered"] },
    ],
    [
      "processing without a transaction",
      sale(1, report({ result: "processing" })),
      { wrongly_reported: 1, findings: ["kit-1-1 was reported as processing, but there is no transaction"] },
    ],
    [
      "the transaction of another order",
      sale(1, report({ reference: "DATA_2" }, delivered)),
      { wrongly_reported: 1, findings: ["kit-1-1 was reported as success DATA_2, but its transaction is DATA_1"] },
    ],
  ];
  test.each(against)("the scorecard counts %s against the client", (_, counted, expected) => {
    const scorecard = scorecardOf([counted]);
    expect(scorecard).toMatchObject(expected);
    expect(conforms(scorecard)).toBe(false);
  });
});
