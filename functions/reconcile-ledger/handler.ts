import { scheduleHandler } from "../../shared/lambda/schedule-handler.ts";
import { measureFloat } from "../../shared/margin/float.ts";
import { verifyPeriods } from "../../shared/periods/verify-periods.ts";
import { documentClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { systemClock } from "../../shared/platform/time.ts";
import { maskOldPhones } from "../../shared/reconciliation/phone-retention.ts";
import { reconcileLedger } from "../../shared/reconciliation/reconcile-ledger.ts";
import { reconcileLedgerSpec } from "../specs.ts";

const env = readEnv(reconcileLedgerSpec.environment);
const ledger = { db: documentClient(), table: env.LEDGER_TABLE, clock: systemClock };
const retention = { phones: env.PHONE_RETENTION_DAYS, consents: env.CONSENT_RETENTION_DAYS };

/**
 * Each minute: measures open transactions, refunds abandoned identity checks and reconciles the wallets that are due.
 * Once an hour: adds up what orders cost, and measures the float. Once a day: masks phone numbers and reduces consents past their retention, and
 * verifies closed months.
 */
export const handler = scheduleHandler("reconcile-ledger.ran", async (deadline) => ({
  ...(await reconcileLedger(ledger, deadline)),
  phones_masked: await maskOldPhones(ledger, retention, deadline),
  float_measured: await measureFloat({ ...ledger, timeZone: env.TIME_ZONE }, deadline),
  months_verified: await verifyPeriods(ledger, deadline),
}));
