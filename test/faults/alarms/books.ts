import { routes } from "../../../shared/contract/routes.ts";
import { DAY_MS } from "../../../shared/contract/values/durations.ts";
import { koboFromNaira } from "../../../shared/contract/values/money.ts";
import { auditEntry, auditPut, SERVICE } from "../../../shared/ledger/audit.ts";
import { recordPayment } from "../../../shared/margin/float.ts";
import { beginClosing, closeService, continueClosing } from "../../../shared/periods/close-period.ts";
import { monthToClose, nextToClose } from "../../../shared/periods/month-to-close.ts";
import { deadlineIn } from "../../../shared/platform/deadline.ts";
import { changeFunding } from "../../builders/ledger/old-account.ts";
import { anOrder } from "../../builders/service/service.ts";
import { closeTestAccount } from "../recovery.ts";
import { advance, now } from "../system/clock.ts";
import { openTestAccount, type TestAccount } from "../test-account.ts";
import { alarmsIn, withStage } from "./observed-alarms.ts";

const MONTHS = { timeZone: "Africa/Lagos", queueMinutes: 15 };

const auditOf = ({ system: { ledger } }: TestAccount, action: string) =>
  auditPut(ledger, auditEntry({ audit_log: SERVICE, by: "operator", action, why: "test" }, now()));

const closeLastMonth = async (account: TestAccount): Promise<void> => {
  const { ledger } = account.system;
  const month = await monthToClose(ledger, nextToClose(ledger, undefined, MONTHS).month, MONTHS);
  const unfinished = await continueClosing(ledger, month, await beginClosing(ledger, month), deadlineIn(60_000));
  if (unfinished !== undefined) throw new Error("The month was not closed at once");
  await closeService(ledger, month, () => auditOf(account, "periods close"));
};

/** Two orders of a day, and a payment to the upstream. */
const sell = async (account: TestAccount, naira: number): Promise<void> => {
  const payment = { paymentId: `payment-${account.accountId}`, amountKobo: koboFromNaira(naira), by: "ada" };
  await recordPayment(account.system.ledger, payment, auditOf(account, "float fund"));
  for (const reference of ["one", "two"]) await account.send(routes.buyData, { ...anOrder(), reference });
};

/** What happens to the books, and the alarms that it must raise. */
export const booksCases: Readonly<
  Record<string, { readonly happens: (account: TestAccount) => Promise<unknown>; readonly alarms: readonly string[] }>
> = {
  "a month is closed": { happens: closeLastMonth, alarms: [] },
  "a line of a closed month is changed": {
    happens: async (account) => {
      await closeLastMonth(account);
      await changeFunding(account.system.ledger, account.accountId);
    },
    alarms: ["period.differs", "LedgerMismatches"],
  },
  "the float lasts for a week": { happens: (account) => sell(account, 8_000), alarms: [] },
  "the float lasts for five hours": { happens: (account) => sell(account, 1_200), alarms: ["FloatLow"] },
};

/** The alarms of each, in a stage of its own: an account of last month, and half an hour in which the schedule runs. */
export const alarmsOfBooks = (name: string): Promise<readonly string[]> =>
  withStage(async (system, endpoint) => {
    const account = await openTestAccount(system, endpoint);
    advance(40 * DAY_MS);
    await system.runSchedule("refresh-catalog");
    const beginMs = now();
    await booksCases[name]?.happens(account);
    for (let run = 0; run < 3; run += 1) {
      advance(10 * 60_000);
      await system.runSchedule("reconcile-ledger");
    }
    const alarms = new Set(alarmsIn(system.observed, beginMs, now()).map(({ alarm }) => alarm));
    await closeTestAccount(account);
    return [...alarms];
  });
