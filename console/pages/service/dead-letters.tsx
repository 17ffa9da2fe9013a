import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { type DeadLetterKind, REDRIVE_MAX } from "../../../shared/contract/actions/dead-letters.ts";
import { useRead } from "../../api/use-read.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { ShownWhileOpen } from "../../components/change/shown-while-open.tsx";
import { Page, Section } from "../../components/page/page.tsx";
import { PageLink, runbookPath } from "../../components/page/page-link.tsx";
import { Query } from "../../components/page/query.tsx";
import { CsvButton } from "../../components/table/csv-button.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { capitalised } from "../../components/values/capitalised.ts";
import { eventText } from "../../components/values/event-text.ts";
import { Status } from "../../components/values/status.tsx";
import { Time } from "../../components/values/time.tsx";
import { durationText } from "../../components/values/transaction-values.tsx";

type Queue = ActionOutput<"dead-letters list">["queues"][number];

const texts = {
  outcomes: {
    title: "Outcomes of orders",
    lost: "Until they are sent again, they do not settle or refund their orders.",
    todo: "Find in the log why they failed, fix the cause, then send them again.",
  },
  delivery: {
    title: "Webhooks",
    lost: "Their apps do not know that an order is final.",
    todo: "Find in the log why they failed, fix the cause, then send them again.",
  },
  stream: {
    title: "Changes of the ledger",
    lost: "The webhooks of these changes were not sent.",
    todo: "Fix the cause, then send the webhooks with the command announce. The runbook says how to remove the messages.",
  },
  schedules: {
    title: "Scheduled runs",
    lost: "A run that fails is tried again each minute, so one lost run does no harm.",
    todo: "Find out why runs could not begin. The runbook says how to remove the messages.",
  },
} as const satisfies Record<Queue["queue"], object>;

const kindTexts: Readonly<Record<string, string>> = {
  settlement: "Outcome of an order",
  void: "Refund of an order",
  wait: "Queued order",
  event: "Upstream event",
  unreadable_event: "Unreadable upstream event",
  answer: "Answer of the upstream",
  changes: "Changes of the ledger",
  run: "Scheduled run",
  unknown: "Unknown",
} satisfies Record<DeadLetterKind, string>;

/** What AWS says, in words. Sources: AWS, "Retaining discarded batches"; "Using dead-letter queues" of EventBridge. */
const whyTexts: Readonly<Record<string, string>> = {
  RetryAttemptsExhausted: "failed in each attempt",
  MaximumRecordAgeExceeded: "was too old to try again",
};

export const DeadLettersPage = () => {
  const queues = useRead("dead-letters list", {});
  return (
    <Page
      actions={
        <CsvButton
          name="messages-given-up"
          rows={queues.data?.queues.flatMap(({ queue, messages }) =>
            messages.map((message) => ({ queue, ...message })),
          )}
          columns={["queue", "id", "kind", "about", "sent_at", "why"]}
        />
      }
      description={
        <>
          Messages between parts of the service that failed in each attempt. They are kept for 14 days.{" "}
          <PageLink to={runbookPath("Dead letters")}>Dead letters in the runbook</PageLink> says what to do about each
          queue.
        </>
      }
    >
      <Query of={queues}>
        {(data) => data.queues.map((queue) => <QueueSection key={queue.queue} queue={queue} />)}
      </Query>
    </Page>
  );
};

const QueueSection = ({ queue: { queue, number, oldest_s, messages } }: { readonly queue: Queue }) => {
  const { title, lost, todo } = texts[queue];
  return (
    <Section
      title={title}
      {...(number > 0 && { description: `${lost} ${todo}` })}
      actions={
        (queue === "outcomes" || queue === "delivery") && (
          <ShownWhileOpen isShown={number > 0}>
            <Redrive queue={queue} title={title} />
          </ShownWhileOpen>
        )
      }
    >
      <div>
        {number === 0 ? (
          <Status tone="good">None</Status>
        ) : (
          <Status tone="bad">
            About {number}
            {oldest_s !== null && `, the oldest for ${durationText(oldest_s)}`}
          </Status>
        )}
      </div>
      {number > 0 && (
        <DataTable
          label={title}
          rows={messages}
          rowKey={({ id }) => id}
          emptyText="They are being processed. Reload the page in a minute."
          columns={[
            { header: "Message", cell: ({ id }) => <code>{id}</code> },
            { header: "Kind", cell: ({ kind }) => kindTexts[kind] ?? eventText(kind) },
            { header: "About", cell: ({ about }) => about ?? "–" },
            { header: "Sent", cell: ({ sent_at }) => <Time iso={sent_at} /> },
            { header: "Why", cell: ({ why }) => capitalised(whyTexts[why] ?? why) },
          ]}
        />
      )}
      {number > messages.length && messages.length > 0 && <p>{`${messages.length} of them are shown.`}</p>}
    </Section>
  );
};

const Redrive = ({ queue, title }: { readonly queue: "outcomes" | "delivery"; readonly title: string }) => (
  <ChangeDialog
    action="dead-letters redrive"
    button="Send again"
    subject={title}
    title={`Send again: ${title}`}
    nameToType={queue}
    inputOf={(_, why) => ({ queue, why })}
    success={({ moved, may_have_more }) =>
      `${moved === 1 ? "1 message was" : `${moved} messages were`} sent again.${may_have_more ? " There may be more." : ""}`
    }
    ifUnknown="It is safe to repeat this: a message that is handled twice has no second effect."
  >
    Up to {REDRIVE_MAX} messages go back and are handled again. Those whose cause is not fixed return to this page.
  </ChangeDialog>
);
