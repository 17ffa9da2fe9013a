import * as z from "#zod";
import { type ActionOutput, actionNames } from "../../../shared/contract/actions/actions.ts";
import { moneyText, nairaDecimals } from "../../../shared/contract/values/money.ts";
import { useFilters } from "../../api/use-filters.ts";
import { usePerson } from "../../api/use-person.ts";
import { useRead } from "../../api/use-read.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { ShownWhileOpen } from "../../components/change/shown-while-open.tsx";
import { Page, Row } from "../../components/page/page.tsx";
import { Query } from "../../components/page/query.tsx";
import { CsvButton } from "../../components/table/csv-button.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { FilterSelect } from "../../components/table/filter-select.tsx";
import type { CsvColumn } from "../../components/table/rows-csv.ts";
import { Breakable } from "../../components/values/breakable.tsx";
import { Money } from "../../components/values/money.tsx";
import { AccountLink } from "../../components/values/record-links.tsx";
import { Status } from "../../components/values/status.tsx";
import { Time } from "../../components/values/time.tsx";

type Proposal = ActionOutput<"proposals list">["proposals"][number];

const READ_EVERY_MS = 30_000;

const filterFields = z.object({ state: z.catch(z.enum(["open", "all"]), "open") });

export const ProposalsPage = () => {
  const [{ state }, choose] = useFilters(filterFields);
  const proposals = useRead("proposals list", { state }, { everyMs: READ_EVERY_MS });
  return (
    <Page
      description="What one person proposed and another decides. Nothing changes until then; an approval carries out exactly what is written here."
      actions={<CsvButton name={`proposals-${state}`} rows={proposals.data?.proposals} columns={csvColumns} />}
    >
      <Row>
        <FilterSelect
          label="Show"
          value={state}
          data={[
            { value: "open", label: "Waiting for a decision" },
            { value: "all", label: "The latest 100, decided or not" },
          ]}
          onChoose={(state) => choose({ state })}
        />
      </Row>
      <Query of={proposals}>
        {(data) => (
          <DataTable
            label={state === "open" ? "Proposals" : "Latest proposals"}
            rows={data.proposals}
            rowKey={({ proposal }) => proposal}
            columns={[
              { header: "What it does", cell: (proposal) => <Consequence {...proposal} /> },
              ...(state === "all"
                ? [{ header: "Decision", cell: (proposal: Proposal) => <Decision {...proposal} /> }]
                : []),
              { header: "Decide", hidesHeader: true, cell: (proposal) => <Decide proposal={proposal} /> },
              {
                header: "Balance before",
                align: "end",
                cell: ({ balance_before: naira }) => <Balance naira={naira} />,
              },
              { header: "Balance after", align: "end", cell: ({ balance_after: naira }) => <Balance naira={naira} /> },
              { header: "Reason", cell: ({ why }) => why ?? "–" },
              {
                header: "Proposed",
                cell: ({ proposed_at, proposed_by, expires_at }) => (
                  <>
                    <Time iso={proposed_at} />
                    <div>
                      by <Breakable text={proposed_by} />
                    </div>
                    <div>
                      Expires <Time iso={expires_at} />
                    </div>
                  </>
                ),
              },
            ]}
            emptyText={state === "open" ? "No proposal waits for a decision." : "Nothing was proposed yet."}
          />
        )}
      </Query>
    </Page>
  );
};

const csvColumns: readonly CsvColumn<Proposal>[] = [
  "proposal",
  "state",
  "action",
  "account_id",
  "consequence",
  ["amount", ({ amount }) => (amount === null ? "" : nairaDecimals(amount))],
  "why",
  "proposed_by",
  "proposed_at",
  "expires_at",
  "decided_by",
  "decided_at",
  "decided_why",
  "broke_glass",
];

const states = {
  open: { tone: "attention", text: "Waits" },
  expired: { tone: "neutral", text: "Expired" },
  approved: { tone: "good", text: "Approved" },
  rejected: { tone: "bad", text: "Rejected" },
} as const;

const Decision = ({ state, decided_by, decided_at, decided_why, broke_glass }: Proposal) => (
  <>
    <Status tone={states[state].tone}>{states[state].text}</Status>
    {decided_by !== null && ` by ${decided_by}${broke_glass ? ", alone" : ""}, `}
    {decided_at !== null && <Time iso={decided_at} />}
    {decided_why !== null && `: ${decided_why}`}
  </>
);

const Consequence = ({ consequence, account_id, state, refusal }: Proposal) => (
  <>
    {consequence}.{state === "open" && refusal !== null && ` ${refusal}.`}
    {account_id !== null && (
      <div>
        <AccountLink account={account_id} />
      </div>
    )}
  </>
);

const Balance = ({ naira }: { readonly naira: number | null }) => (naira === null ? "–" : <Money naira={naira} />);

const IF_UNKNOWN = "It is safe to submit it again: a proposal is carried out once.";

const doneText = ({ consequence, repeated, decided_by }: ActionOutput<"proposals approve">): string =>
  repeated ? `${decided_by} had approved it before.` : `Done: ${consequence}.`;

const approvalPreview = ({ amount, balance_before, balance_after, consequence }: Proposal) => ({
  sentence:
    balance_before === null || balance_after === null
      ? `${consequence}.`
      : `${consequence}. Balance: from ${moneyText(balance_before)} to ${moneyText(balance_after)}`,
  button: amount === null ? "Approve" : `Approve ${moneyText(Math.abs(amount))}`,
});

/** Those whose role may do what is proposed may reject it, and its author may withdraw it. */
const useRejection = ({ action, proposed_by, consequence }: Proposal) => {
  const { by, may } = usePerson();
  const name = actionNames.find((each) => each === action);
  return proposed_by === by
    ? ({
        mayReject: true,
        button: "Withdraw",
        title: "Withdraw the proposal",
        success: "The proposal is withdrawn.",
        children: `${consequence}: this will not happen. You can propose it again.`,
      } as const)
    : ({
        mayReject: name !== undefined && may(name),
        button: "Reject",
        title: "Reject the proposal",
        success: "The proposal is rejected.",
        children: `${consequence}: this will not happen. The person who proposed it can propose it again.`,
      } as const);
};

const Decide = ({ proposal: shown }: { readonly proposal: Proposal }) => {
  const { proposal, state, consequence, refusal } = shown;
  const isOpen = state === "open";
  const { mayReject, ...rejection } = useRejection(shown);
  // Two people may propose the same.
  const subject = `${consequence}, ${proposal}`;
  return (
    <Row>
      <ShownWhileOpen isShown={isOpen && refusal === null}>
        <ChangeDialog
          action="proposals approve"
          button="Approve"
          subject={subject}
          buttonVariant="filled"
          buttonSize="xs"
          title="Approve the proposal"
          preview={() => approvalPreview(shown)}
          inputOf={(_, why) => ({ proposal, why })}
          success={doneText}
          ifUnknown={IF_UNKNOWN}
        >
          It is carried out in your name, with the name of the person who proposed it beside it. This cannot be undone.
        </ChangeDialog>
      </ShownWhileOpen>
      <ShownWhileOpen isShown={isOpen && mayReject}>
        <ChangeDialog
          {...rejection}
          action="proposals reject"
          subject={subject}
          buttonSize="xs"
          inputOf={(_, why = "") => ({ proposal, why })}
        />
      </ShownWhileOpen>
      <ShownWhileOpen isShown={isOpen}>
        <ChangeDialog
          action="proposals break-glass"
          button="Break the glass"
          subject={subject}
          buttonVariant="subtle"
          buttonSize="xs"
          title="Carry out the proposal alone"
          nameToType={proposal}
          preview={() => approvalPreview(shown)}
          inputOf={(_, why = "") => ({ proposal, why })}
          success={doneText}
          ifUnknown={IF_UNKNOWN}
        >
          Only where nobody else can be reached and the harm grows until a person acts. It pages the operators, and the
          audit log has your reason.
        </ChangeDialog>
      </ShownWhileOpen>
    </Row>
  );
};
