import { expect, onTestFinished, test } from "vitest";
import { createAccount } from "../../../shared/access/accounts.ts";
import { DAY_MS } from "../../../shared/contract/values/durations.ts";
import { consentSchema } from "../../../shared/identity/consent.ts";
import { readTransaction } from "../../../shared/ledger/find-transactions.ts";
import { getItem } from "../../../shared/ledger/get-item.ts";
import { consentPk } from "../../../shared/ledger/schema.ts";
import { isoTime, systemClock } from "../../../shared/platform/time.ts";
import { loadHandler } from "../../../tools/local/functions.ts";
import { localAwsEnvironment, setEnvironment } from "../../../tools/local/local-aws.ts";
import { aLambdaContext } from "../../builders/aws/lambda-context.ts";
import { dynamodbEndpoint } from "../../builders/dynamodb/emulator.ts";
import { freshTables } from "../../builders/dynamodb/tables.ts";
import { aTransaction } from "../../builders/ledger/transaction.ts";

/** Goal: the run of the schedule keeps each kind of personal data for as long as its own setting says. */

test("a phone number is masked after its own retention, and a consent of that age says whom it is about", async () => {
  const tables = await freshTables();
  const { account_id } = await createAccount(tables, { name: "test", whitelist: [] });
  const { open: _open, ...transaction } = aTransaction({
    // It changed no balance: a wallet that differs from its orders is read again for a while.
    ...{ account_id, list_key: `${account_id}#live`, status: "failed", debit: "void" },
    created_at: isoTime(systemClock() - 405 * DAY_MS),
  });
  const { pk, key_id, created_at } = transaction;
  const consent = {
    ...{ pk: consentPk({ pk }), account_id, key_id, mode: "live", created_at, request_id: "r", subject: "s" },
    ...{ operation: "nin_verification", extent: "basic", purpose: "loan" },
  };
  for (const Item of [transaction, consent]) await tables.db.put({ TableName: tables.ledgerTable, Item });
  onTestFinished(
    setEnvironment({
      ...localAwsEnvironment({ dynamodb: dynamodbEndpoint, sqs: "", secretsManager: "" }),
      LEDGER_TABLE: tables.ledgerTable,
      PHONE_RETENTION_DAYS: "400",
      CONSENT_RETENTION_DAYS: "2190",
      TIME_ZONE: "Africa/Lagos",
    }),
  );
  const handler = await loadHandler("reconcile-ledger", new URL("../../../functions/", import.meta.url));
  await handler({}, aLambdaContext());
  const ledger = { db: tables.db, table: tables.ledgerTable, clock: systemClock };
  expect((await readTransaction(ledger, pk))?.phone_number).toMatch(/^\*{9}\d\d$/);
  expect(await getItem(ledger, consent.pk, consentSchema)).toEqual(consent);
});
