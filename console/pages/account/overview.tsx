import { useState } from "react";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { errors, isErrorCode } from "../../../shared/contract/errors.ts";
import { MINUTE_MS } from "../../../shared/contract/values/durations.ts";
import { moneyText, nairaFromKobo, shortMoneyText } from "../../../shared/contract/values/money.ts";
import { percentText } from "../../../shared/contract/values/percent-text.ts";
import { useAccount } from "../../api/use-account.ts";
import { useShownAccountName } from "../../api/use-account-name.ts";
import { usePerson } from "../../api/use-person.ts";
import { useRead } from "../../api/use-read.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { Chart } from "../../components/charts/chart.tsx";
import { NetworkCharts } from "../../components/charts/network-charts.tsx";
import { totalOf, withinText } from "../../components/charts/statistics.ts";
import { BusyButton } from "../../components/page/busy-button.tsx";
import { Facts } from "../../components/page/facts.tsx";
import { Notice } from "../../components/page/notice.tsx";
import { Page, Section } from "../../components/page/page.tsx";
import { accountPath, PageLink, runbookPath } from "../../components/page/page-link.tsx";
import { Query } from "../../components/page/query.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { entryPreview, entrySentence, koboOf, type Preview } from "../../components/values/amount.ts";
import { Money } from "../../components/values/money.tsx";
import { Status } from "../../components/values/status.tsx";
import { Time } from "../../components/values/time.tsx";
import { typeText } from "../../components/values/transaction-values.tsx";

const READ_EVERY_MS = 30_000;
const ORDERS_EVERY_MS = MINUTE_MS;
const ORDER_DAYS = 14;

export const OverviewPage = () => {
  const account = useAccount();
  const wallet = useRead("wallet show", { account }, { everyMs: READ_EVERY_MS });
  return (
    <Page
      actions={
        <>
          {wallet.data && <ThresholdDialog account={account} threshold={wallet.data.low_balance_threshold} />}
          <FundDialog account={account} />
          <AdjustDialog account={account} />
        </>
      }
    >
      <Section title="Wallet">
        <Query of={wallet}>{(shown) => <WalletFacts wallet={shown} />}</Query>
      </Section>
      <Section title="Balance by day" description="At the end of each day, in the time zone of the stage.">
        <Balances account={account} />
      </Section>
      <Orders account={account} />
      <Section title="Events" actions={<PageLink to={accountPath(account, "webhooks")}>Webhooks</PageLink>}>
        <Subscriptions account={account} />
      </Section>
      <Verification account={account} />
    </Page>
  );
};

const WalletFacts = ({ wallet }: { readonly wallet: ActionOutput<"wallet show"> }) => {
  const { balance, low_balance_threshold: threshold, queued_orders, updated_at } = wallet;
  return (
    <Facts
      facts={[
        { name: "Balance", value: <Money naira={balance} /> },
        {
          name: "State",
          value: <WalletState balance={balance} threshold={threshold} />,
        },
        { name: "Low below", value: threshold === null ? "No threshold" : <Money naira={threshold} /> },
        { name: "Queued orders", value: queued_orders },
        { name: "Last change", value: <Time iso={updated_at} /> },
      ]}
    />
  );
};

const WalletState = ({ balance, threshold }: { readonly balance: number; readonly threshold: number | null }) => {
  if (balance <= 0) return <Status tone="attention">Empty</Status>;
  if (threshold === null) return <Status tone="neutral">Not watched</Status>;
  return balance < threshold ? <Status tone="attention">Low</Status> : <Status tone="good">Not low</Status>;
};

const ThresholdDialog = ({ account, threshold }: { readonly account: string; readonly threshold: number | null }) => (
  <ChangeDialog
    action="wallet threshold"
    button="Set threshold"
    buttonVariant="default"
    title="Set the threshold of a low balance"
    fields={{
      amount_kobo: {
        kind: "number",
        label: "Low below, in NGN",
        description: "0 for no threshold.",
        initial: String(threshold ?? 0),
      },
      before: { kind: "seen", initial: String(threshold ?? 0) },
    }}
    preview={({ amount_kobo }) => thresholdPreview(koboOf(amount_kobo))}
    inputOf={({ amount_kobo, before }, why) => ({
      account,
      amount_kobo: koboOf(amount_kobo),
      before_kobo: koboOf(before),
      why,
    })}
    success={({ low_balance_threshold: naira }) =>
      naira === null ? "The wallet has no threshold now." : `The balance counts as low below ${moneyText(naira)} now.`
    }
  >
    Below this balance the API reports a low balance, and an endpoint that asked for it gets wallet.low.
  </ChangeDialog>
);

const thresholdPreview = (kobo: number): Preview | undefined => {
  if (!(kobo >= 0)) return undefined;
  const sentence =
    kobo === 0 ? "No balance counts as low." : `A balance below ${moneyText(nairaFromKobo(kobo))} counts as low.`;
  return { sentence, button: "Set threshold" };
};

const FundDialog = ({ account }: { readonly account: string }) => {
  const name = useShownAccountName(account);
  return (
    <ChangeDialog
      action="wallet fund"
      button="Fund"
      title="Credit a bank transfer"
      fields={{
        amount_kobo: { kind: "number", label: "Amount in NGN" },
        id: {
          kind: "text",
          label: "The bank's reference of the transfer",
          description: "A transfer is credited once, whatever the account.",
        },
      }}
      balanceOf={account}
      preview={({ amount_kobo }, balance) => (koboOf(amount_kobo) > 0 ? entryPreview(amount_kobo, balance) : undefined)}
      inputOf={({ amount_kobo, id }, why) => ({ account, amount_kobo: koboOf(amount_kobo), id, why })}
      success={entrySentence}
      ifUnknown="It is safe to submit it again: the reference is credited once."
    >
      The wallet of <bdi>{name}</bdi> is credited.
    </ChangeDialog>
  );
};

/** Until a correction is recorded or proposed its name stays the same, so that a retry after a lost answer is the same entry. */
const newEntryId = (): string => `console-${crypto.randomUUID()}`;

const AdjustDialog = ({ account }: { readonly account: string }) => {
  const [id, setId] = useState(newEntryId);
  const takeNewId = () => setId(newEntryId());
  return (
    <ChangeDialog
      action="wallet adjust"
      button="Adjust"
      title="Correct the balance"
      nameToType={account}
      fields={{
        amount_kobo: { kind: "number", label: "Amount in NGN", description: "Negative to debit, such as -500." },
        id: { kind: "text", label: "Name of this correction", initial: id },
      }}
      balanceOf={account}
      preview={({ amount_kobo }, balance) => entryPreview(amount_kobo, balance)}
      inputOf={({ amount_kobo, id }, why = "") => ({ account, amount_kobo: koboOf(amount_kobo), id, why })}
      success={entrySentence}
      onDone={takeNewId}
      onProposed={takeNewId}
      ifUnknown="It is safe to submit it again: under one name a correction is recorded once."
    >
      A ledger entry changes the balance, never below 0. No transaction changes its status.
    </ChangeDialog>
  );
};

const dayFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

const Balances = ({ account }: { readonly account: string }) => {
  const read = useRead("statistics balances", { account });
  return (
    <Query of={read}>
      {({ balances }) => (
        <Chart
          label="Balance at the end of each day"
          xHeader="Day"
          kind="line"
          series={["Balance"]}
          points={balances.map(({ day, balance }) => ({ x: dayFormat.format(new Date(day)), values: [balance] }))}
          valueText={moneyText}
          axisText={shortMoneyText}
          emptyText="No balance is recorded yet. It is kept from the first order that ends."
        />
      )}
    </Query>
  );
};

/** The outcomes of the account's orders, and why some failed. */
const Orders = ({ account }: { readonly account: string }) => {
  const read = useRead("statistics account", { account, days: ORDER_DAYS }, { everyMs: ORDERS_EVERY_MS });
  const { days, latency_bounds_ms } = read.data ?? {};
  return (
    <>
      <Section
        title={`Orders of the last ${ORDER_DAYS} days`}
        description="Live orders and checks, counted when they end; they appear after a minute. The numbers are approximate: after a fault an order can be counted twice."
      >
        <Query of={read}>{(shown) => <OrderFacts {...shown} />}</Query>
      </Section>
      {days !== undefined && latency_bounds_ms !== undefined && (
        <>
          <NetworkCharts
            steps={days.map(({ day, counts }) => ({ label: dayFormat.format(new Date(day)), counts }))}
            boundsMs={latency_bounds_ms}
            xHeader="Day"
            emptyText={`No live order ended in the last ${ORDER_DAYS} days.`}
          />
          <Failures failures={days.flatMap(({ failures }) => failures)} account={account} />
        </>
      )}
    </>
  );
};

const OrderFacts = ({ days, latency_bounds_ms }: ActionOutput<"statistics account">) => {
  const { count, successful, amount, latency } = totalOf(days.flatMap(({ counts }) => counts));
  return (
    <Facts
      facts={[
        { name: "Ended", value: count },
        { name: "Successful", value: percentText(successful, count) },
        { name: "95 of 100 delivered within", value: withinText(latency, latency_bounds_ms) },
        { name: "Spent", value: <Money naira={amount} /> },
      ]}
    />
  );
};

type Failure = ActionOutput<"statistics account">["days"][number]["failures"][number];

const reasonText = (code: string): string => {
  if (code === "resolved") return "An operator resolved it as failed";
  return isErrorCode(code) ? errors[code].message : code;
};

const orderText = ({ network, type }: Failure): string =>
  network === null ? typeText(type) : `${network} ${typeText(type).toLowerCase()}`;

const Failures = ({ failures, account }: { readonly failures: readonly Failure[]; readonly account: string }) => {
  const sums = new Map<string, Failure>();
  for (const failure of failures) {
    const key = keyOf(failure);
    sums.set(key, { ...failure, count: failure.count + (sums.get(key)?.count ?? 0) });
  }
  return (
    <Section
      title="What failed, and why"
      actions={<PageLink to={`${accountPath(account, "transactions")}?status=failed`}>Failed transactions</PageLink>}
    >
      <DataTable
        label="What failed, and why"
        rows={[...sums.values()].toSorted((one, other) => other.count - one.count)}
        rowKey={keyOf}
        columns={[
          { header: "Order", cell: orderText },
          { header: "Reason", cell: ({ code }) => reasonText(code) },
          { header: "Count", align: "end", cell: ({ count }) => count },
        ]}
        emptyText={`Nothing failed in the last ${ORDER_DAYS} days.`}
      />
    </Section>
  );
};

const keyOf = ({ type, network, code }: Failure): string => [type, network, code].join("|");

const Subscriptions = ({ account }: { readonly account: string }) => {
  const webhooks = useRead("webhook list", { account });
  return (
    <Query of={webhooks}>
      {({ endpoints }) =>
        endpoints.length === 0 ? (
          <div>No endpoint is set, so no events are sent.</div>
        ) : (
          endpoints.map(({ endpoint, name, events }) => (
            <div key={endpoint}>
              <bdi>{name}</bdi> gets {events.join(", ")}.
            </div>
          ))
        )
      }
    </Query>
  );
};

/** No owner may do it. */
const Verification = ({ account }: { readonly account: string }) => {
  const { may } = usePerson();
  const [isAsked, setIsAsked] = useState(false);
  // It reads every entry, so it is not repeated by itself.
  const verified = useRead("wallet verify", { account }, { enabled: false });
  if (!may("wallet verify")) return null;
  const verify = () => {
    setIsAsked(true);
    void verified.refetch();
  };
  return (
    <Section
      title="Reconciliation"
      description="Compares the balance with all ledger entries. A difference is read twice before it is shown."
      actions={
        <BusyButton variant="default" isBusy={verified.isFetching} onClick={verify}>
          Verify
        </BusyButton>
      }
    >
      {isAsked && (
        <Query of={verified}>
          {({ ok, balance, expected, difference }) => (
            <>
              {ok ? (
                <Notice tone="good" title="The balance equals its entries" />
              ) : (
                <Notice tone="bad" title="The balance differs from its entries">
                  Follow <PageLink to={runbookPath("Wallet mismatch")}>Wallet mismatch in the runbook</PageLink>.
                </Notice>
              )}
              <Facts
                facts={[
                  { name: "Balance", value: <Money naira={balance} /> },
                  { name: "Sum of the entries", value: <Money naira={expected} /> },
                  { name: "Difference", value: <Money naira={difference} /> },
                  { name: "Verified", value: <Time iso={new Date(verified.dataUpdatedAt).toISOString()} /> },
                ]}
              />
            </>
          )}
        </Query>
      )}
    </Section>
  );
};
