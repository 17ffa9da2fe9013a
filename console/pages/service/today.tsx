import type { ReactNode } from "react";
import { clockReport } from "../../../shared/contract/reports/refund-clock-report.ts";
import { useAttention } from "../../api/use-attention.ts";
import { useMayOpen } from "../../api/use-may-open.ts";
import { usePerson } from "../../api/use-person.ts";
import { useRead } from "../../api/use-read.ts";
import { useReport } from "../../api/use-report.ts";
import { Columns, Page, Section } from "../../components/page/page.tsx";
import { PageLink } from "../../components/page/page-link.tsx";
import { Query, type ShownQuery } from "../../components/page/query.tsx";
import { yesterday } from "../../components/period/period.ts";
import { DataTable } from "../../components/table/data-table.tsx";
import { capitalised } from "../../components/values/capitalised.ts";
import { Money } from "../../components/values/money.tsx";
import { AccountLink } from "../../components/values/record-links.tsx";
import { Status } from "../../components/values/status.tsx";
import { Time } from "../../components/values/time.tsx";
import type { Tone } from "../../components/values/tones.ts";
import { durationText } from "../../components/values/transaction-values.tsx";
import { Unbroken } from "../../components/values/unbroken.tsx";
import styles from "./today.module.css";

const READ_EVERY_MS = 30_000;
const OFTEN = { everyMs: READ_EVERY_MS };
/** Ended orders are added up each hour. */
const SUMS_EVERY_MS = 300_000;

/** What is to do in the whole service. */
export const TodayPage = () => {
  const { may, time_zone: timeZone } = usePerson();
  const attention = useAttention();
  const purchases = useRead("purchases show", {}, OFTEN);
  const seesLow = may("wallet low");
  const low = useRead("wallet low", {}, { ...OFTEN, enabled: seesLow });
  const { from, to } = yesterday(Date.now(), timeZone);
  const clockOptions = { everyMs: SUMS_EVERY_MS, enabled: may("refund-clock report") };
  const clock = useReport("refund-clock report", { from, to, by: "kind" }, clockReport, clockOptions);
  // To the others the banner of Doctor says it.
  const seesFloat = may("float show") && !may("doctor");
  const float = useRead("float show", {}, { everyMs: SUMS_EVERY_MS, freshMs: SUMS_EVERY_MS, enabled: seesFloat });
  return (
    <Page description="What needs attention. The numbers are read again every 30 seconds, sums over all orders every 5 minutes.">
      <Columns kind="tiles">
        <Tile title="Open orders" to="/open" of={attention}>
          {({ open_orders, stuck_orders }) => (
            <>
              <Status tone={stuck_orders > 0 ? "bad" : "good"}>{stuck_orders} stuck</Status> of {open_orders} open
            </>
          )}
        </Tile>
        <Tile title="Unmatched events" to="/unmatched" of={attention}>
          {({ unmatched_events }) => <Count of={unmatched_events} what="to resolve" tone="attention" />}
        </Tile>
        <Tile title="Queued orders" to="/waiting" of={attention}>
          {({ queued_orders, oldest_queued_s }) => (
            <>
              <Count of={queued_orders} what="waiting" tone="running" />
              {oldest_queued_s !== null && ` for up to ${durationText(oldest_queued_s)}`}
            </>
          )}
        </Tile>
        <Tile title="Messages given up" to="/dead-letters" of={attention}>
          {({ messages_given_up }) => <Count of={messages_given_up} what="given up" tone="bad" />}
        </Tile>
        <Tile title="Refund clock" to={`/refund-clock?from=${from}&to=${to}`} of={clock}>
          {({ open_over_24_h: open, total: { within_30_s_percent: percent } }) => (
            <>
              <Count of={open} what="open for more than 24 h" tone="bad" />
              {percent !== null && (
                <p className={styles.detail}>
                  {percent} % of yesterday's orders ended <Unbroken text="within 30 s" />
                </p>
              )}
            </>
          )}
        </Tile>
        {seesFloat && (
          <Tile title="Float" to="/float" of={float}>
            {({ hours_left, is_low, pace, upstream_balance }) => (
              <>
                <Status tone={is_low ? "attention" : hours_left === null ? "neutral" : "good"}>
                  {capitalised(pace)}
                </Status>
                {upstream_balance !== null && (
                  <p className={styles.detail}>
                    The upstream states <Money naira={upstream_balance} />
                  </p>
                )}
              </>
            )}
          </Tile>
        )}
        <Tile title="Purchases" to="/upstream" of={purchases}>
          {({ purchases: state, parts, ...switched }) => (
            <>
              <div>
                <Status tone={state === "on" ? "good" : "bad"}>{state === "on" ? "On" : "Off"}</Status>
                <Since {...switched} />
              </div>
              {state === "on" &&
                parts.map(({ part, ...each }) => (
                  <div key={part}>
                    <Status tone="attention">{part} is off</Status>
                    <Since {...each} />
                  </div>
                ))}
            </>
          )}
        </Tile>
      </Columns>
      {seesLow && (
        <Section title="Low wallets" description="Balances below the thresholds of their accounts.">
          <Query of={low}>
            {({ wallets }) => (
              <DataTable
                label="Low wallets"
                rows={wallets}
                rowKey={({ account_id }) => account_id}
                columns={[
                  {
                    header: "Account",
                    cell: ({ account_id }) => <AccountLink account={account_id} />,
                  },
                  { header: "Balance", align: "end", cell: ({ balance }) => <Money naira={balance} /> },
                  {
                    header: "Low below",
                    align: "end",
                    cell: ({ low_balance_threshold }) => <Money naira={low_balance_threshold} />,
                  },
                ]}
                emptyText="No balance is below its threshold."
              />
            )}
          </Query>
        </Section>
      )}
    </Page>
  );
};

type TileProps<Data> = {
  readonly title: string;
  /** The page that has more. */
  readonly to: string;
  readonly of: ShownQuery<Data>;
  readonly children: (data: NonNullable<Data>) => ReactNode;
};

const Tile = <Data,>({ title, to, of, children }: TileProps<Data>) => {
  const mayOpen = useMayOpen();
  if (!mayOpen(to)) return null;
  return (
    <Section title={<PageLink to={to}>{title}</PageLink>}>
      <Query of={of}>{(data) => <div>{children(data)}</div>}</Query>
    </Section>
  );
};

type SinceProps = { readonly since: string | null; readonly by: string | null };

const Since = ({ since, by }: SinceProps) =>
  since !== null && (
    <>
      {" since "}
      <Time iso={since} />
      {by !== null && (
        <>
          {" "}
          by <bdi>{by}</bdi>
        </>
      )}
    </>
  );

type CountProps = { readonly of: number; readonly what: string; readonly tone: Tone };

const Count = ({ of, what, tone }: CountProps) => (
  <Status tone={of === 0 ? "good" : tone}>{of === 0 ? `None ${what}` : `${of} ${what}`}</Status>
);
