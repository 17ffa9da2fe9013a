import { Progress } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { counted } from "../../../shared/contract/values/counted.ts";
import { nairaDecimals } from "../../../shared/contract/values/money.ts";
import { sentenceOf } from "../../api/action-error.ts";
import { callAction } from "../../api/call-action.ts";
import { useRead } from "../../api/use-read.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { useFollowedChanges, useLeftChanges } from "../../components/change/sent-change.ts";
import { announce } from "../../components/page/announce.tsx";
import { Notice } from "../../components/page/notice.tsx";
import { Page, Section } from "../../components/page/page.tsx";
import { PageLink } from "../../components/page/page-link.tsx";
import { Query } from "../../components/page/query.tsx";
import { CsvButton } from "../../components/table/csv-button.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { Money } from "../../components/values/money.tsx";
import { Time } from "../../components/values/time.tsx";

type Periods = ActionOutput<"periods list">;
type Closing = Pick<ActionOutput<"periods close">, "month" | "state" | "accounts" | "accounts_done">;

export const PeriodsPage = () => {
  const periods = useRead("periods list", {});
  return (
    <Page description="Months that are closed for good. What is booked later belongs to the next month.">
      <Query of={periods}>
        {(found) => (
          <>
            <NextPeriod {...found} />
            <Section
              title="Closed"
              actions={
                <CsvButton
                  name="periods"
                  rows={found.periods}
                  columns={[
                    "month",
                    ["opening", ({ opening }) => nairaDecimals(opening)],
                    "lines",
                    ["closing", ({ closing }) => nairaDecimals(closing)],
                    ...(["accounts", "open_orders", "closed_at"] as const),
                  ]}
                />
              }
            >
              <ClosedPeriods {...found} />
            </Section>
          </>
        )}
      </Query>
    </Page>
  );
};

const ClosedPeriods = ({ periods }: Periods) => (
  <DataTable
    label="Closed periods"
    rows={periods}
    rowKey={({ month }) => month}
    columns={[
      { header: "Month", cell: ({ month }) => <PageLink to={`/periods/${month}`}>{month}</PageLink>, sort: "month" },
      { header: "Opening", align: "end", cell: ({ opening }) => <Money naira={opening} /> },
      { header: "Closing", align: "end", cell: ({ closing }) => <Money naira={closing} /> },
      { header: "Lines", align: "end", cell: ({ lines }) => lines, sort: "lines" },
      { header: "Accounts", align: "end", cell: ({ accounts }) => accounts },
      { header: "Open orders", align: "end", cell: ({ open_orders }) => open_orders },
      { header: "Closed", cell: ({ closed_at }) => <Time iso={closed_at} /> },
    ]}
    emptyText="No month is closed yet. The first one opens with everything before it."
  />
);

const NextPeriod = ({ next: { month, from }, time_zone: timeZone }: Periods) => {
  const [closing, setClosing] = useState<Closing>();
  const [failed, setFailed] = useState<{ readonly month: string; readonly error: unknown }>();
  const reason = useRef("");
  const client = useQueryClient();
  const followChange = useFollowedChanges();
  const title = `Close ${month}`;
  /** Begun before the page was left. */
  const isLeftClosing = useLeftChanges().some((change) => change.title === title && change.outcome === undefined);
  const isClosable = Date.now() >= Date.parse(from);

  /** Each call closes some accounts. A closing that was interrupted continues where it was. */
  const continueClosing = async (begun: ActionOutput<"periods close">) => {
    const change = followChange({ title, makesSecret: false });
    setFailed(undefined);
    let progress = begun;
    try {
      while (progress.next_cursor !== null) {
        setClosing(progress);
        const { next_cursor: cursor, wait_ms } = progress;
        await new Promise((resolve) => setTimeout(resolve, wait_ms));
        progress = await callAction("periods close", { month: begun.month, cursor, why: reason.current });
      }
      change.end("made");
      announce(`${begun.month} is closed.`);
    } catch (error) {
      change.end("interrupted");
      setFailed({ month: begun.month, error });
    } finally {
      setClosing(undefined);
      await client.invalidateQueries();
    }
  };
  return (
    <Section
      title={`Next: ${month}`}
      actions={
        isClosable &&
        closing === undefined &&
        !isLeftClosing && (
          <ChangeDialog
            action="periods close"
            button={title}
            title={title}
            nameToType={month}
            inputOf={(_, why = "") => {
              reason.current = why;
              return { month, why };
            }}
            success={({ period }) => (period === null ? `Closing ${month}.` : `${month} is closed.`)}
            onDone={(begun) => void continueClosing(begun)}
            ifUnknown="Close the month again: what is closed already stays as it is."
          >
            The lines of every wallet until the end of {month} ({timeZone}) become final, and their sums and hash are
            stored. No balance changes. Book what belongs to {month} first: afterwards a funding or an adjustment
            belongs to the next month.
          </ChangeDialog>
        )
      }
    >
      {closing !== undefined && <ClosingProgress {...closing} />}
      {/* If the lost answer was the last one, the month is closed, and another one is next. */}
      {failed?.month === month && (
        <Notice tone="attention" title={`${month} is not closed yet`}>
          {sentenceOf(failed.error)} Close it again: it continues where it was.
        </Notice>
      )}
      {closing === undefined &&
        !isLeftClosing &&
        (isClosable ? (
          <div>It has ended, and can be closed.</div>
        ) : (
          <div>
            It can be closed from <Time iso={from} /> on.
          </div>
        ))}
    </Section>
  );
};

const ClosingProgress = ({ month, state, accounts, accounts_done: done }: Closing) => (
  <div role="status">
    {state === "sealing" ? "Sealing the wallets" : "Adding up"}: {done} of {counted(accounts, "account")}. Keep this
    page open.
    <Progress value={accounts === 0 ? 100 : (100 * done) / accounts} aria-label={`Closing ${month}`} />
  </div>
);
