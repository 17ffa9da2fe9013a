import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { moneyText } from "../../../shared/contract/money.ts";
import { useRead } from "../../api/use-read.ts";
import { koboOf, paymentPreview } from "../../components/amount.ts";
import { Facts } from "../../components/facts.tsx";
import { IrreversibleDialog } from "../../components/irreversible-dialog.tsx";
import { Money } from "../../components/money.tsx";
import { Page, Section } from "../../components/page.tsx";
import { Query } from "../../components/query.tsx";
import { Time } from "../../components/time.tsx";

type Float = ActionOutput<"float show">;

const REFRESH_MS = 60_000;

export const FloatPage = () => {
  const float = useRead("float show", {}, { everyMs: REFRESH_MS });
  return (
    <Page
      title="Float"
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
    </Page>
  );
};

const Expected = (float: Float) => (
  <Section title="Expected balance" description={sentence(float.pace)}>
    <Facts
      facts={[
        { name: "Expected balance", value: amountOf(float.expected_balance) },
        { name: "Balance at the upstream", value: amountOf(float.upstream_balance) },
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

/** `pace` is a field of the command line's output. */
const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

const amountOf = (naira: number | null) => (naira === null ? undefined : <Money naira={naira} />);

const BookPayment = () => (
  <IrreversibleDialog
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
  </IrreversibleDialog>
);
