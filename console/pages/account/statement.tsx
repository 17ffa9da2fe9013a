import { Anchor } from "@mantine/core";
import * as z from "#zod";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { correctedBy, recreditId, reversalName } from "../../../shared/contract/corrections.ts";
import { openingOf, statementCsv } from "../../../shared/contract/reports/statement-csv.ts";
import { transactionType } from "../../../shared/contract/transaction.ts";
import { nearestKobo } from "../../../shared/contract/values/money.ts";
import { readAllPages } from "../../api/read-all-pages.ts";
import { useAccount } from "../../api/use-account.ts";
import { useFilters, useTableView } from "../../api/use-filters.ts";
import { useMorePages } from "../../api/use-more-pages.ts";
import { usePerson } from "../../api/use-person.ts";
import { useReadPages } from "../../api/use-read.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { ShownWhileOpen } from "../../components/change/shown-while-open.tsx";
import { Facts } from "../../components/page/facts.tsx";
import { slugOf } from "../../components/page/markdown.ts";
import { Page, Row } from "../../components/page/page.tsx";
import { PrintButton } from "../../components/page/print-button.tsx";
import { type Period, periodError, periodName } from "../../components/period/period.ts";
import { PeriodFields, periodFilters } from "../../components/period/period-fields.tsx";
import { PagedTable } from "../../components/table/data-table.tsx";
import { DownloadButton } from "../../components/table/download-button.tsx";
import { rowName } from "../../components/table/row-at-top.ts";
import { entryPreview, entrySentence } from "../../components/values/amount.ts";
import { Breakable } from "../../components/values/breakable.tsx";
import { Money } from "../../components/values/money.tsx";
import { lineKey, STATEMENT_TABLE, TransactionLink } from "../../components/values/record-links.tsx";
import { Status } from "../../components/values/status.tsx";
import { StageTime } from "../../components/values/time.tsx";
import { lineKindText } from "../../components/values/transaction-values.tsx";

type StatementPage = ActionOutput<"wallet statement">;
type Line = StatementPage["lines"][number];

const filterFields = z.object(periodFilters);
/** With this month and the last one, more than a year. */
const MONTHS_TO_CHOOSE = 12;

export const StatementPage = () => {
  const account = useAccount();
  const [period, choose] = useFilters(filterFields);
  const input = periodError(period) === undefined ? { account, ...period } : undefined;
  const statement = useReadPages("wallet statement", input);
  const { data, hasNextPage } = statement;
  const last = data?.pages.at(-1);
  // What is before the period is summed up in pages without lines.
  useMorePages(statement, last?.lines.length === 0);
  const mayReverse = usePerson().may("wallet reverse");
  const pages = data?.pages ?? [];
  const opening = openingOf(pages);
  const lines = pages.flatMap((page) => page.lines);
  const ids = new Set(lines.map(({ id }) => id));
  return (
    <Page
      description="Every debit, refund, funding and adjustment of the wallet, oldest first, with the balance after it."
      actions={
        <>
          <PrintButton of={statement} />
          <DownloadButton
            fileName={`statement-${account}${periodName(period)}.csv`}
            type="text/csv"
            read={input && (async (onPage) => csvOf(await readAllPages("wallet statement", input, onPage), period))}
          >
            Download CSV
          </DownloadButton>
        </>
      }
    >
      <Row>
        <PeriodFields period={period} months={MONTHS_TO_CHOOSE} onChange={choose} />
      </Row>
      {last !== undefined && (
        <Facts
          facts={[
            { name: "Opening balance", value: opening === undefined ? undefined : <Money naira={opening} /> },
            {
              name: hasNextPage ? "Balance after these lines" : "Closing balance",
              value: <Money naira={last.closing} />,
            },
            ...sumsByKind(lines),
          ]}
        />
      )}
      <PagedTable
        label={STATEMENT_TABLE}
        of={statement}
        rowsOf={({ lines }) => lines}
        rowKey={lineKey}
        amountOf={({ effect }) => effect}
        columns={[
          {
            header: "Entry",
            cell: (line) => (
              <>
                <EntryName account={account} line={line} ids={ids} />{" "}
                {mayReverse && <Reversal account={account} line={line} isReversed={ids.has(reversalName(line.id))} />}
              </>
            ),
          },
          { header: "Amount", align: "end", cell: ({ effect }) => <Money naira={effect} /> },
          { header: "Balance", align: "end", cell: ({ balance }) => <Money naira={balance} /> },
          { header: "Time", cell: ({ at }) => <StageTime iso={at} /> },
          { header: "Description", cell: descriptionOf },
          { header: "App's reference", cell: ({ caller_reference }) => <Breakable text={caller_reference ?? "–"} /> },
        ]}
        emptyText="No entry in this period. Choose a longer one."
        emptySoFarText="Adding up what is before this period."
      />
    </Page>
  );
};

const anchorOf = (fundingId: string): string => `funding-${fundingId}`;

type EntryNameProps = {
  readonly account: string;
  readonly line: Line;
  /** The ids of the lines that are shown. */
  readonly ids: ReadonlySet<string>;
};

const EntryName = ({ account, line: { kind, id }, ids }: EntryNameProps) => {
  const { onPartOf } = useTableView(slugOf(STATEMENT_TABLE));
  const corrected = kind === "adjustment" ? correctedBy(id) : undefined;
  if (corrected?.kind === "funding") {
    // A funding of an earlier period is not on the page.
    if (!ids.has(corrected.id)) return `Reversal of ${corrected.id}`;
    return (
      <>
        Reversal of{" "}
        <Anchor
          href={`#${anchorOf(corrected.id)}`}
          inherit
          underline="always"
          // Only some rows are drawn at once.
          onClick={() => onPartOf(rowName(lineKey({ kind: "funding", id: corrected.id })))}
        >
          {corrected.id}
        </Anchor>
      </>
    );
  }
  const order = corrected?.id ?? (kind === "refund" || transactionType.safeParse(kind).success ? id : undefined);
  if (order === undefined) return <span {...(kind === "funding" && { id: anchorOf(id) })}>{id}</span>;
  return (
    <>
      {corrected !== undefined && "Refund of "}
      <TransactionLink account={account} reference={order} />
    </>
  );
};

type ReversalProps = {
  readonly account: string;
  readonly line: Line;
  readonly isReversed: boolean;
};

const Reversal = ({ account, line: { kind, id, effect }, isReversed }: ReversalProps) => {
  if (kind !== "funding") return null;
  return (
    <>
      {isReversed && <Status tone="neutral">Reversed</Status>}
      <ShownWhileOpen isShown={!isReversed}>
        <ChangeDialog
          action="wallet reverse"
          button="Reverse"
          subject={id}
          buttonSize="xs"
          title={`Reverse the funding ${id}`}
          balanceOf={account}
          preview={(_, balance) => entryPreview(String(-effect), balance)}
          inputOf={(_, why = "") => ({ account, id, why })}
          success={entrySentence}
          ifUnknown="It is safe to submit it again: a funding is reversed once."
        >
          For a transfer that was credited to the wrong account or with the wrong amount. The statement keeps the
          funding, and gets an adjustment that names it. If it was reversed after the period that is shown, nothing is
          changed: a funding is reversed once. Afterwards credit the transfer to the right account, with{" "}
          {recreditId(id)} as the bank's reference.
        </ChangeDialog>
      </ShownWhileOpen>
    </>
  );
};

const names: Partial<Record<Line["kind"], string>> = {
  funding: "Funding",
  adjustment: "Adjustment",
  refund: "Refund",
};

/** That of a debit names what was ordered; that of a funding or adjustment is the reason, if one is on record. */
const descriptionOf = ({ kind, description }: Line): string => {
  const name = names[kind];
  if (name === undefined) return description;
  return description === "" ? name : `${name}: ${description}`;
};

const csvOf = async (pages: readonly StatementPage[], period: Period): Promise<string> => {
  let csv = "";
  for await (const part of statementCsv(pages, period)) csv += part;
  return csv;
};

/** How many of the lines that were read are of each kind, and what they come to. */
const sumsByKind = (lines: readonly Line[]) =>
  [...Map.groupBy(lines, ({ kind }) => kind)].map(([kind, of]) => ({
    name: `${lineKindText(kind)} (${of.length})`,
    value: <Money kobo={of.reduce((sum, { effect }) => sum + nearestKobo(effect), 0)} />,
  }));
