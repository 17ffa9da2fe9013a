import { Button } from "@mantine/core";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { useRead } from "../../api/use-read.ts";
import { type Check, checkName, checkToDo, hasPage } from "../../components/checks.tsx";
import { DataTable } from "../../components/data-table.tsx";
import { Notice } from "../../components/notice.tsx";
import { Page } from "../../components/page.tsx";
import { Query } from "../../components/query.tsx";
import { Status } from "../../components/status.tsx";
import type { Tone } from "../../components/tones.ts";

const states: Readonly<Record<Check["state"], { readonly tone: Tone; readonly text: string }>> = {
  ok: { tone: "good", text: "In order" },
  look: { tone: "attention", text: "Look into it" },
  wrong: { tone: "bad", text: "Wrong" },
  skipped: { tone: "neutral", text: "Not checked" },
};

/** All checks of the service that need no secret. */
export const DoctorPage = () => {
  const doctor = useRead("doctor", {});
  return (
    <Page
      title="Doctor"
      description="Checks everything that the service depends on, and says what to do."
      actions={
        <Button variant="default" loading={doctor.isFetching} onClick={() => void doctor.refetch()}>
          Check again
        </Button>
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
          { header: "Found", cell: ({ found }) => found },
          { header: "What to do", cell: (check) => <ToDo {...check} /> },
        ]}
        rows={checks}
        rowKey={({ check }) => check}
        emptyText="No check was run."
      />
    </>
  );
};

const ToDo = (check: Check) => {
  if (check.state === "skipped" && !hasPage(check)) {
    return "To see them, run npm run admin -- doctor with access to the deployment";
  }
  return check.state === "ok" || check.state === "skipped" ? "–" : checkToDo(check);
};
