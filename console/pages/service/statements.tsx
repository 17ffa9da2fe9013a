import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { useReadPages } from "../../api/use-read.ts";
import { Page } from "../../components/page/page.tsx";
import { PageLink } from "../../components/page/page-link.tsx";
import { ListCsvButton } from "../../components/table/csv-button.tsx";
import { PagedTable } from "../../components/table/data-table.tsx";
import { StatementState } from "../../components/values/statement-values.tsx";
import { Time } from "../../components/values/time.tsx";

type Statement = ActionOutput<"reconciliation statements list">["statements"][number];

/** Those that count: the others were removed, read again in another way, or stored in part. */
const wholeFilesOf = (files: Statement["files"]): number => files.filter(({ state }) => state === "whole").length;

const matchedIn = (compared: Statement["compared"]): number | undefined =>
  compared?.totals.find((total) => total.class === "matched")?.count;

export const StatementsPage = () => {
  const statements = useReadPages("reconciliation statements list", {});
  return (
    <Page
      description={
        <>
          Each day of the upstream's statement, compared with our orders. An operator imports a file with{" "}
          <code>reconciliation import</code>.
        </>
      }
      actions={
        <ListCsvButton
          name="statements"
          list="reconciliation statements list"
          input={{}}
          rowsOf={(page) => page.statements}
          columns={[
            "day",
            "state",
            ["files", ({ files }) => String(wholeFilesOf(files))],
            ["matched", ({ compared }) => String(matchedIn(compared) ?? "")],
            ["compared_at", ({ compared }) => compared?.at ?? ""],
          ]}
        />
      }
    >
      <PagedTable
        label="Statements"
        of={statements}
        rowsOf={(page) => page.statements}
        rowKey={({ day }) => day}
        columns={[
          { header: "Day", cell: ({ day }) => <PageLink to={`/statements/${day}`}>{day}</PageLink> },
          { header: "State", cell: (statement) => <StatementState of={statement} /> },
          { header: "Files", align: "end", cell: ({ files }) => wholeFilesOf(files) },
          {
            header: "Matched",
            align: "end",
            cell: ({ compared }) => matchedIn(compared) ?? "–",
          },
          { header: "Compared", cell: ({ compared }) => (compared === null ? "–" : <Time iso={compared.at} />) },
        ]}
        emptyText="No statement was imported yet."
      />
    </Page>
  );
};
