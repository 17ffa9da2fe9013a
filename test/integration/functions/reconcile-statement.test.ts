import { expect, onTestFinished, test } from "vitest";
import { reconciliationActions, STATEMENT_ROWS_MAX } from "../../../shared/contract/actions/reconciliation.ts";
import { transactionType } from "../../../shared/contract/transaction.ts";
import { loadHandler } from "../../../tools/local/functions.ts";
import { setEnvironment } from "../../../tools/local/local-aws.ts";
import { anApiEvent } from "../../builders/aws/api-event.ts";
import { aLambdaContext } from "../../builders/aws/lambda-context.ts";

/**
 * Goal: the function takes the largest part of a statement that is sent, and nothing larger. Method: its handler, which
 * reads no table for that.
 */

/** What the action that stores rows answers to a body. */
const answerTo = async (body: string): Promise<unknown> => {
  onTestFinished(
    setEnvironment({
      ...{ LEDGER_TABLE: "ledger", AUDIT_TABLE: "audit", REFERENCE_KEY_SECRET_ID: "reference-key", CONSOLE: "" },
      ...{ UPSTREAM_COSTS: "{}", QUEUE_MINUTES: "10" },
    }),
  );
  const handle = await loadHandler("reconcile-statement", new URL("../../../functions/", import.meta.url));
  const event = anApiEvent({
    ...{ method: "POST", path: "/operations/operator/reconciliation/files/append", body },
    routeKey: "POST /operations/{role}/reconciliation/{path+}",
    pathParameters: { role: "operator", path: "files/append" },
  });
  const iam = { userArn: "arn:aws:sts::123456789012:assumed-role/operators/ada", cognitoIdentity: null };
  const requestContext = { ...event.requestContext, authorizer: { iam } };
  return handle({ ...event, requestContext }, aLambdaContext());
};

const BYTES_MAX = 2 * 1_024 * 1_024;
const TOO_LARGE = { statusCode: 400, body: expect.stringContaining("larger than 2048 KB") };

test("a body of 2 MB is read, and one that is a byte longer is refused", async () => {
  const bodyOf = (bytes: number): string => JSON.stringify({ day: "x".repeat(bytes - 10) });
  expect(Buffer.byteLength(bodyOf(BYTES_MAX))).toBe(BYTES_MAX);
  expect(await answerTo(bodyOf(BYTES_MAX))).toMatchObject({ body: expect.stringContaining("Is required") });
  expect(await answerTo(bodyOf(BYTES_MAX + 1))).toMatchObject(TOO_LARGE);
});

test("the most rows of a request, with the longest values, are no larger than that", () => {
  // Of the characters that count as one, these take the most bytes.
  const reference = "\uffee".repeat(100);
  const row = {
    ...{ reference, upstream_reference: reference, phone_number: "\uffee".repeat(20), line: Number.MAX_SAFE_INTEGER },
    ...{ amount_kobo: Number.MAX_SAFE_INTEGER, at: "2026-11-21T09:30:00.000000000Z" },
    ...{ status: "processing", type: transactionType.options.toSorted((one, other) => other.length - one.length)[0] },
  };
  const rows = Array.from({ length: STATEMENT_ROWS_MAX }, () => row);
  const sent = { day: "2026-11-21", file: "0".repeat(64), offset: Number.MAX_SAFE_INTEGER, rows, is_last: true };
  expect(reconciliationActions["reconciliation files append"].input.safeParse(sent).error).toBeUndefined();
  expect(Buffer.byteLength(JSON.stringify(sent))).toBeLessThan(BYTES_MAX);
});
