import * as z from "#zod";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { MINUTE_MS } from "../../../shared/contract/values/durations.ts";
import { moneyText, nairaDecimals } from "../../../shared/contract/values/money.ts";
import { useFilters } from "../../api/use-filters.ts";
import { useRead, useReadPages } from "../../api/use-read.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { Facts } from "../../components/page/facts.tsx";
import { Page, Row, Section } from "../../components/page/page.tsx";
import { Query } from "../../components/page/query.tsx";
import { periodError, periodName } from "../../components/period/period.ts";
import { PeriodFields, periodFilters } from "../../components/period/period-fields.tsx";
import { ListCsvButton } from "../../components/table/csv-button.tsx";
import { PagedTable } from "../../components/table/data-table.tsx";
import { type CsvColumn, localTimeColumn } from "../../components/table/rows-csv.ts";
import { koboOf, paymentPreview } from "../../components/values/amount.ts";
import { Breakable } from "../../components/values/breakable.tsx";
import { capitalised } from "../../components/values/capitalised.ts";
import { Money } from "../../components/values/money.tsx";
import { StageTime, Time } from "../../components/values/time.tsx";

type Float = ActionOutput<"float show">;
type Payment = ActionOutput<"float payments">["payments"][number];

const REFRESH_MS = MINUTE_MS;
const filterFields = z.object(periodFilters);
/** With this month and the last one, more than a year. */
const MONTHS_TO_CHOOSE = 12;

export const FloatPage = () => {
  const float = useRead("float show", {}, { everyMs: REFRESH_MS });
  return (
    <Page
      description="The balance that our payments and orders leave at the upstream, beside the one that it states. It corrects nothing."
      actions={<BookPayment />}
    >
      <Query of={float}>
        {(shown) => (
          <>
            <Expected {...shown} />
            {shown.statement_day !== null && <Statement {...shown} />}
          </>
        )}
      </Query>
      <Payments />
    </Page>
  );
};

const Expected = (float: Float) => (
  <Section title="Balance at the upstream" description={`${capitalised(float.pace)}.`}>
    <Facts
      facts={[
        { name: "Expected balance", value: amountOf(float.expected_balance) },
        { name: "Stated balance", value: amountOf(float.upstream_balance) },
        { name: "Stated at", value: float.upstream_balance_at && <Time iso={float.upstream_balance_at} /> },
        { name: "Payments", value: amountOf(float.payments) },
        { name: "Cost of delivered orders", value: <Money naira={float.cost} /> },
        { name: "Orders of unknown cost, at their price", value: <Money naira={float.unknown_cost_at_price} /> },
        { name: "Open orders", value: <Money naira={float.open} /> },
        { name: "Orders of the last 24 hours", value: <Money naira={float.last_24_hours} /> },
      ]}
    />
  </Section>
);

const Statement = (float: Float) => (
  <Section title={`Statement of ${float.statement_day}`} description="At the end of the day.">
    <Facts
      facts={[
        { name: "Balance in the statement", value: amountOf(float.statement_balance) },
        { name: "Expected balance", value: amountOf(float.statement_expected) },
        { name: "Difference", value: amountOf(float.statement_difference) },
      ]}
    />
  </Section>
);

const Payments = () => {
  const [period, choose] = useFilters(filterFields);
  const input = periodError(period) === undefined ? period : undefined;
  const payments = useReadPages("float payments", input);
  return (
    <Section
      title="Payments"
      description="Those that are booked, newest first, with their corrections."
      actions={
        <ListCsvButton
          name={`payments${periodName(period)}`}
          list="float payments"
          input={input}
          rowsOf={(page) => page.payments}
          columns={csvColumns}
        />
      }
    >
      <Row>
        <PeriodFields period={period} months={MONTHS_TO_CHOOSE} onChange={choose} />
      </Row>
      <PagedTable
        label="Payments"
        of={payments}
        rowsOf={(page) => page.payments}
        rowKey={({ id }) => id}
        amountOf={({ amount }) => amount}
        columns={[
          { header: "The bank's reference", cell: ({ id }) => id },
          { header: "Amount", align: "end", cell: ({ amount }) => <Money naira={amount} /> },
          {
            header: "Booked",
            cell: ({ at, by }) => (
              <>
                <StageTime iso={at} />
                <div>
                  by <Breakable text={by} />
                </div>
              </>
            ),
          },
        ]}
        emptyText="No payment is booked in this period. Choose a longer one."
      />
    </Section>
  );
};

const csvColumns: readonly CsvColumn<Payment>[] = [
  "id",
  "at",
  localTimeColumn(({ at }) => at),
  ["amount", ({ amount }) => nairaDecimals(amount)],
  "by",
];

const amountOf = (naira: number | null) => (naira === null ? undefined : <Money naira={naira} />);

const BookPayment = () => (
  <ChangeDialog
    action="float fund"
    button="Book payment"
    title="Book a payment to the upstream"
    nameToType="payment"
    fields={{
      amount_kobo: {
        kind: "number",
        label: "Amount in NGN",
        description: "Negative to correct a payment that was booked too high, such as -500.",
      },
      id: {
        kind: "text",
        label: "The bank's reference of the payment",
        description: "A payment is booked once. A correction has a name of its own.",
      },
    }}
    preview={({ amount_kobo }) => paymentPreview(amount_kobo)}
    inputOf={({ amount_kobo, id }, why = "") => ({ amount_kobo: koboOf(amount_kobo), id, why })}
    success={({ id, amount, repeated }) =>
      repeated
        ? `${id} was booked before: nothing was changed.`
        : `${moneyText(Math.abs(amount))} were ${amount < 0 ? "taken from the booked payments" : "booked"}.`
    }
    ifUnknown="It is safe to submit it again: the reference is booked once."
  >
    Only the books change: no money is sent, and no wallet changes.
  </ChangeDialog>
);
