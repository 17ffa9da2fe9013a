import { useRoute } from "wouter";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { caseDecisions } from "../../../shared/contract/actions/reconciliation.ts";
import { nairaDecimals, nairaFromKobo } from "../../../shared/contract/values/money.ts";
import { useRead, useReadPages } from "../../api/use-read.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { ShownWhileOpen } from "../../components/change/shown-while-open.tsx";
import { Facts } from "../../components/page/facts.tsx";
import { Page, Section } from "../../components/page/page.tsx";
import { PageLink } from "../../components/page/page-link.tsx";
import { Query } from "../../components/page/query.tsx";
import { ListCsvButton } from "../../components/table/csv-button.tsx";
import { DataTable, PagedTable } from "../../components/table/data-table.tsx";
import { type CsvColumn, localTimeColumn } from "../../components/table/rows-csv.ts";
import { SearchLink } from "../../components/table/search.tsx";
import { Money } from "../../components/values/money.tsx";
import { classText, StatementState, type UpstreamStatement } from "../../components/values/statement-values.tsx";
import { Status } from "../../components/values/status.tsx";
import { StageTime, Time } from "../../components/values/time.tsx";
import { Unbroken } from "../../components/values/unbroken.tsx";
import { caseName } from "./case-name.ts";

type Case = ActionOutput<"reconciliation cases list">["cases"][number];

export const StatementDayPage = () => {
  const [, params] = useRoute("/statements/:day");
  const day = params?.day ?? "";
  const statement = useRead("reconciliation statements show", { day });
  const cases = useReadPages("reconciliation cases list", { day });
  const { data } = statement;
  const isOpen = data?.state === "open";
  const isReady = isOpen && data.open_cases === 0 && data.compared?.revision === data.revision;
  return (
    <Page
      title={day}
      description={<PageLink to="/statements">All statements of the upstream</PageLink>}
      actions={
        <ShownWhileOpen isShown={isReady}>
          <SignOff day={day} />
        </ShownWhileOpen>
      }
    >
      <Query of={statement}>
        {(shown) => (
          <>
            <Compared {...shown} />
            <Cases day={day} of={cases} isOpen={isOpen} />
            <Files {...shown} />
          </>
        )}
      </Query>
    </Page>
  );
};

type CasesProps = {
  readonly day: string;
  readonly of: ReturnType<typeof useReadPages<"reconciliation cases list">>;
  readonly isOpen: boolean;
};

const Cases = ({ day, of, isOpen }: CasesProps) => (
  <Section
    title="Cases"
    description="Decide each, then sign the day off. A decision moves no money."
    actions={
      <ListCsvButton
        name={`cases-${day}`}
        list="reconciliation cases list"
        input={{ day }}
        rowsOf={(page) => page.cases}
        columns={csvColumns}
      />
    }
  >
    <PagedTable
      label="Cases"
      of={of}
      rowsOf={(page) => page.cases}
      rowKey={(each) => each.case}
      columns={[
        {
          header: "Case",
          cell: (each) => (
            <>
              {each.order === undefined ? caseName(each) : <SearchLink text={each.order.reference} />}
              {each.order !== undefined && each.row?.upstream_reference !== undefined && (
                <div>Upstream: {each.row.upstream_reference}</div>
              )}
              <TimeOf at={timeOf(each)} />
            </>
          ),
        },
        { header: "What differs", cell: (each) => classText[each.class] },
        { header: "Ours", align: "end", cell: ({ order }) => <Amount of={order} /> },
        { header: "Theirs", align: "end", cell: ({ row }) => <Amount of={row} /> },
        { header: "State", cell: (each) => <CaseState of={each} /> },
        {
          header: "Decide",
          hidesHeader: true,
          cell: (each) => (
            <ShownWhileOpen isShown={isOpen && each.state !== "withdrawn"}>
              <Decide day={day} of={each} />
            </ShownWhileOpen>
          ),
        },
      ]}
      emptyText="Nothing differs."
    />
  </Section>
);

type Side = { readonly amount_kobo: number } | undefined;

const Amount = ({ of }: { readonly of: Side }) => (of === undefined ? "–" : <Money kobo={of.amount_kobo} />);

const amountOf = (side: Side): string => (side === undefined ? "" : nairaDecimals(nairaFromKobo(side.amount_kobo)));

const timeOf = ({ order, row }: Case): string | undefined => order?.at ?? row?.at;

const csvColumns: readonly CsvColumn<Case>[] = [
  "case",
  "day",
  "class",
  "state",
  ["upstream_reference", ({ order, row }) => row?.upstream_reference ?? order?.upstream_reference ?? ""],
  ["ours", ({ order }) => amountOf(order)],
  ["theirs", ({ row }) => amountOf(row)],
  ["at", (each) => timeOf(each) ?? ""],
  localTimeColumn(timeOf),
  ["decision", ({ decisions }) => decisions.at(-1)?.decision ?? ""],
  ["by", ({ decisions }) => decisions.at(-1)?.by ?? ""],
  ["why", ({ decisions }) => decisions.at(-1)?.why ?? ""],
];

const TimeOf = ({ at }: { readonly at: string | undefined }) => (
  <div>{at === undefined ? "–" : <StageTime iso={at} />}</div>
);

const Compared = (statement: UpstreamStatement) => (
  <Section title="Comparison">
    <Facts
      facts={[
        { name: "State", value: <StatementState of={statement} /> },
        { name: "Begins", value: <StageTime iso={statement.from} /> },
        { name: "Ends", value: <StageTime iso={statement.to} /> },
        {
          name: "Balance at the upstream",
          value: statement.closing === null ? undefined : <Money kobo={statement.closing.balance_kobo} />,
        },
        { name: "Signed off by", value: statement.signed_off?.by },
      ]}
    />
    <DataTable
      label="Findings"
      rows={statement.compared?.totals ?? []}
      rowKey={(total) => total.class}
      columns={[
        { header: "Finding", cell: (total) => classText[total.class] },
        { header: "Number", align: "end", cell: ({ count }) => count },
        { header: "Ours", align: "end", cell: ({ ours_kobo }) => <Money kobo={ours_kobo} /> },
        { header: "Theirs", align: "end", cell: ({ theirs_kobo }) => <Money kobo={theirs_kobo} /> },
      ]}
      emptyText="The files were not compared yet. Import them again: the command continues."
    />
  </Section>
);

const fileTexts = {
  whole: "Stored",
  incomplete: "Stored in part: import it again",
  replaced: "Read again in another way",
  removed: "Removed",
} as const satisfies Record<UpstreamStatement["files"][number]["state"], string>;

const Files = ({ day, state: dayState, files }: UpstreamStatement) => (
  <Section title="Files">
    <DataTable
      label="Files"
      rows={files.map((file, index) => ({ ...file, number: index + 1 }))}
      rowKey={({ file }) => file}
      columns={[
        { header: "File", cell: ({ number }) => number },
        { header: "SHA-256", cell: ({ sha256 }) => <Unbroken text={shortHash(sha256)} /> },
        { header: "Rows", align: "end", cell: ({ rows }) => rows },
        { header: "State", cell: ({ state }) => fileTexts[state] },
        {
          header: "Imported",
          cell: ({ at, by }) => (
            <>
              <Time iso={at} />
              <br />
              by <bdi>{by}</bdi>
            </>
          ),
        },
        {
          header: "Remove",
          hidesHeader: true,
          cell: ({ sha256, state }) => (
            <ShownWhileOpen isShown={dayState === "open" && (state === "whole" || state === "incomplete")}>
              <RemoveFile day={day} sha256={sha256} />
            </ShownWhileOpen>
          ),
        },
      ]}
      emptyText="No file was imported."
    />
  </Section>
);

/** The beginning of a file's hash, by which the files of a day can be distinguished. */
const shortHash = (sha256: string): string => `${sha256.slice(0, 12)}…`;

const RemoveFile = ({ day, sha256 }: { readonly day: string; readonly sha256: string }) => (
  <ChangeDialog
    action="reconciliation files remove"
    button="Remove"
    subject={shortHash(sha256)}
    buttonSize="xs"
    title={`Remove the file ${shortHash(sha256)}`}
    inputOf={(_, why = "") => ({ day, sha256, why })}
    success={`The file is removed. Import another file of ${day}, or one that is left, to compare the day.`}
  >
    Its rows no longer count, and {day} cannot be signed off until an import has compared it again.
  </ChangeDialog>
);

const decisionTexts = {
  explained: "Explained: both sides are right",
  disputed: "Disputed with the upstream",
  resolved: "Resolved: it was corrected",
} as const satisfies Record<(typeof caseDecisions)[number], string>;

const shortDecisionTexts = {
  explained: "Explained",
  disputed: "Disputed",
  resolved: "Resolved",
} as const satisfies Record<(typeof caseDecisions)[number], string>;

const CaseState = ({ of: { state, decisions } }: { readonly of: Case }) => {
  const last = decisions.at(-1);
  if (state === "open") return <Status tone="attention">To decide</Status>;
  if (state === "withdrawn" || last === undefined) return <Status tone="neutral">No longer found</Status>;
  return (
    <Status tone={last.decision === "disputed" ? "attention" : "good"}>
      {shortDecisionTexts[last.decision]} by <bdi>{last.by}</bdi>
    </Status>
  );
};

const Decide = ({ day, of }: { readonly day: string; readonly of: Case }) => (
  <ChangeDialog
    action="reconciliation cases decide"
    button="Decide"
    subject={`${classText[of.class]}, ${caseName(of)}`}
    buttonSize="xs"
    title={`Decide: ${classText[of.class]}`}
    fields={{
      decision: {
        kind: "choice",
        label: "Decision",
        mustChoose: true,
        options: caseDecisions.map((value) => ({ value, label: decisionTexts[value] })),
      },
    }}
    inputOf={({ decision }, why = "") => ({
      day,
      case: of.case,
      decision: caseDecisions.find((each) => each === decision) ?? "explained",
      why,
    })}
    success="The decision is on record."
  >
    <p>
      {caseName(of)}. Ours: <Amount of={of.order} />. Theirs: <Amount of={of.row} />.
    </p>
    <p>
      A decision moves no money. Resolve an order or adjust a wallet on its own page first, and name it in the reason.
    </p>
  </ChangeDialog>
);

const SignOff = ({ day }: { readonly day: string }) => (
  <ChangeDialog
    action="reconciliation statements sign"
    button="Sign off"
    title={`Sign off ${day}`}
    nameToType={day}
    inputOf={(_, why) => ({ day, why })}
    success={`${day} is signed off.`}
  >
    Nothing of the day changes any more: no file can be added, and no case decided in another way.
  </ChangeDialog>
);
