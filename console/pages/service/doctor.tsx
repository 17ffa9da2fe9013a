import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { useRead } from "../../api/use-read.ts";
import { BusyButton } from "../../components/page/busy-button.tsx";
import { type Check, checkFound, checkName, checkToDo } from "../../components/page/checks.tsx";
import { Notice } from "../../components/page/notice.tsx";
import { Page } from "../../components/page/page.tsx";
import { Query } from "../../components/page/query.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { Status } from "../../components/values/status.tsx";
import type { Tone } from "../../components/values/tones.ts";

/** `place`: what needs a person comes first. */
const states: Readonly<Record<Check["state"], { readonly tone: Tone; readonly text: string; readonly place: number }>> =
  {
    wrong: { tone: "bad", text: "Wrong", place: 0 },
    look: { tone: "attention", text: "Look into it", place: 1 },
    ok: { tone: "good", text: "In order", place: 2 },
    skipped: { tone: "neutral", text: "Not checked", place: 2 },
  };

/** All checks of the service that need no secret. */
export const DoctorPage = () => {
  const doctor = useRead("doctor", {});
  return (
    <Page
      description="Checks everything that the service depends on, and says what to do."
      actions={
        <BusyButton variant="default" isBusy={doctor.isFetching} onClick={() => void doctor.refetch()}>
          Check again
        </BusyButton>
      }
    >
      <Query of={doctor}>{(found) => <Checks {...found} />}</Query>
    </Page>
  );
};

const Checks = ({ checks }: ActionOutput<"doctor">) => {
  const wrong = checks.filter(({ state }) => state === "wrong").length;
  const toLookAt = checks.filter(({ state }) => state === "look").length;
  return (
    <>
      {wrong > 0 && (
        <Notice tone="bad" title={wrong === 1 ? "1 check found a fault" : `${wrong} checks found a fault`} />
      )}
      {wrong === 0 && toLookAt > 0 && (
        <Notice tone="attention" title="No fault was found. Check what is marked below" />
      )}
      {wrong === 0 && toLookAt === 0 && <Notice tone="good" title="No check found a fault" />}
      <DataTable
        label="Checks"
        columns={[
          { header: "Check", cell: checkName },
          { header: "State", cell: ({ state }) => <Status tone={states[state].tone}>{states[state].text}</Status> },
          {
            header: "Found",
            cell: (check) => (
              <>
                {checkFound(check)}
                {(check.state === "wrong" || check.state === "look") && <div>{checkToDo(check)}</div>}
              </>
            ),
          },
        ]}
        rows={checks.toSorted((one, other) => states[one.state].place - states[other.state].place)}
        rowKey={({ check }) => check}
        emptyText="No check was run."
      />
    </>
  );
};
