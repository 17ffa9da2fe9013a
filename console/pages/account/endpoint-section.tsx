import * as z from "#zod";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { seenEndpoint } from "../../../shared/contract/actions/webhook.ts";
import { isMaskedUrl } from "../../../shared/contract/values/shown-url.ts";
import { endpointEventName, TRANSACTION_UPDATED } from "../../../shared/contract/webhook-events.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { ShownWhileOpen } from "../../components/change/shown-while-open.tsx";
import { Facts } from "../../components/page/facts.tsx";
import { Notice } from "../../components/page/notice.tsx";
import { Section } from "../../components/page/page.tsx";
import { accountPath } from "../../components/page/page-link.tsx";
import { isolated } from "../../components/values/isolated.ts";
import { Status } from "../../components/values/status.tsx";
import { Time } from "../../components/values/time.tsx";

export type Endpoint = ActionOutput<"webhook list">["endpoints"][number];
type TestAnswer = ActionOutput<"webhook test">;

/** The status of an endpoint changes with its deliveries. */
export const ENDPOINTS_REFRESH_MS = 10_000;

const statuses = {
  on: { tone: "good", text: "Enabled" },
  off: { tone: "bad", text: "Disabled: nothing is sent" },
  none: { tone: "neutral", text: "No endpoint" },
} as const;

export const EndpointStatus = ({ status }: Pick<Endpoint, "status">) => {
  const { tone, text } = statuses[status];
  return <Status tone={tone}>{text}</Status>;
};

export const FailingSince = ({ endpoint: { failing_since, down } }: { readonly endpoint: Endpoint }) =>
  failing_since === null ? (
    <Status tone="good">Not failing</Status>
  ) : (
    <>
      <Status tone="bad">{down ? "Down" : "Fails"}</Status> <Time iso={failing_since} />
    </>
  );

type EndpointSectionProps = {
  readonly id: string;
  readonly endpoint: Endpoint;
  readonly onTest: (answer: TestAnswer) => void;
};

/** The endpoint, and what a person may do with it. */
export const EndpointSection = ({ id, endpoint, onTest }: EndpointSectionProps) => {
  const { account_id: account, name, url, status, down, previous_secret_until, events } = endpoint;
  const on = { account, endpoint: id };
  return (
    <Section
      title="Endpoint"
      actions={
        <>
          <SendTest on={on} onTest={onTest} />
          <EditEndpoint on={on} name={name} url={url} status={status} />
          <ChooseEvents on={on} events={events} />
          <ShownWhileOpen isShown={status === "on"}>
            <Disable on={on} />
          </ShownWhileOpen>
          <ShownWhileOpen isShown={status !== "on"}>
            <Enable on={on} />
          </ShownWhileOpen>
          <RotateSecret on={on} name={name ?? id} />
          <Remove on={on} name={name ?? id} />
        </>
      }
    >
      <Facts
        facts={[
          { name: "URL", value: url, isWide: true },
          { name: "Status", value: <EndpointStatus status={status} /> },
          { name: "Failing since", value: <FailingSince endpoint={endpoint} /> },
          { name: "Events", value: events.join(", ") },
          { name: "Id", value: id },
          ...(previous_secret_until !== null && Date.parse(previous_secret_until) > Date.now()
            ? [{ name: "Previous secret also signs until", value: <Time iso={previous_secret_until} /> }]
            : []),
        ]}
      />
      {down && (
        <Notice tone="attention" title="Webhooks wait until the endpoint works again">
          One is tried after a minute, and later every 5 to 6 minutes. The attempts below say how the endpoint answers.
          Correct the URL or the app, then send a test event: if the endpoint accepts it, 1,000 webhooks at most are
          sent now, and the others at their next retry.
        </Notice>
      )}
    </Section>
  );
};

/** The endpoint that an action is about. */
type OnEndpoint = { readonly account: string; readonly endpoint: string };

/** What happens to the webhooks that waited for the endpoint; their number may be unknown. */
export const requeuedText = (requeued: number | null): string =>
  requeued === null ? "Follow within minutes" : `${requeued} sent now, the others at their next retry`;

const requeuedSentence = (requeued: number | null): string => {
  if (requeued === 0) return "";
  if (requeued === null) return " What waits follows within minutes.";
  return requeued === 1 ? " 1 webhook that waited is sent now." : ` ${requeued} webhooks that waited are sent now.`;
};

const urlField = {
  kind: "text",
  label: "URL",
  description: "It begins with https:// and is reached from the internet at port 443.",
  placeholder: "https://app.example.com/webhooks",
} as const;

export const AddEndpoint = ({ account }: { readonly account: string }) => (
  <ChangeDialog
    action="webhook add"
    button="Add endpoint"
    title="Add an endpoint"
    fields={{
      url: urlField,
      name: {
        kind: "text",
        label: "Name (optional)",
        description: "What people call it, such as Bookkeeping.",
        isOptional: true,
      },
      events: { ...eventsField, initial: [TRANSACTION_UPDATED] },
    }}
    inputOf={({ url, name, events }, why) => ({
      ...{ account, url: url.trim(), events: eventsOf(events), why },
      ...(name.trim() !== "" && { name: name.trim() }),
    })}
    success={({ name }) => `${isolated(name)} was added. Events from now on are sent to it.`}
    shownOnce={({ webhook_secret: secret }) =>
      secret === null
        ? undefined
        : {
            title: "The signing secret of the endpoint",
            label: "signing secret",
            secret,
            children: "Your app checks with it that a webhook comes from this service.",
          }
    }
    ifUnknown="If the endpoint is in the list and you have not seen its signing secret, rotate the secret."
  >
    Events from now on are sent to it, earlier ones are not.
  </ChangeDialog>
);

type EditEndpointProps = { readonly on: OnEndpoint } & Pick<Endpoint, "name" | "url" | "status">;

const EditEndpoint = ({ on, name, url, status }: EditEndpointProps) => (
  <ChangeDialog
    action="webhook set"
    button="Change name and URL"
    buttonVariant="default"
    title="Change name and URL"
    fields={{
      // The values of a query are not shown, so they are typed again.
      url: { ...urlField, initial: url === null || isMaskedUrl(url) ? "" : url },
      name: { kind: "text", label: "Name", initial: name ?? "" },
      before: { kind: "seen", initial: JSON.stringify({ name, url, status }) },
    }}
    inputOf={(values, why) => ({
      ...on,
      url: values.url.trim(),
      name: values.name.trim(),
      before: seenEndpoint.parse(JSON.parse(values.before)),
      why,
    })}
    success={({ requeued }) => `The endpoint was changed, and is enabled.${requeuedSentence(requeued)}`}
  >
    The endpoint is enabled, also if it was disabled, and webhooks that wait are sent to it now, 1,000 at most. The
    signing secret stays as it is.
  </ChangeDialog>
);

const eventTexts = {
  "transaction.updated": "An order became final",
  "wallet.low": "The balance fell below the threshold",
  "limit.near": "Orders use more than 80 % of a limit of the account or a key",
  "catalog.updated": "Data plans or their prices changed",
} as const;

const eventsField = {
  kind: "choices",
  label: "Events",
  options: endpointEventName.options.map((value) => ({ value, label: value, description: eventTexts[value] })),
} as const;
const eventsOf = (values: readonly string[]) => z.array(endpointEventName).parse(values);

const ChooseEvents = ({ on, events }: { readonly on: OnEndpoint; readonly events: readonly string[] }) => (
  <ChangeDialog
    action="webhook events"
    button="Choose events"
    buttonVariant="default"
    title="Choose events"
    fields={{
      events: { ...eventsField, initial: endpointEventName.options.filter((name) => events.includes(name)) },
      before: { kind: "seen", initial: events.join(",") },
    }}
    inputOf={(values, why) => ({ ...on, events: eventsOf(values.events), before: values.before.split(","), why })}
    success="The events were chosen."
  >
    It gets the chosen events from now on. What waits for it already is still sent.
  </ChangeDialog>
);

const Enable = ({ on }: { readonly on: OnEndpoint }) => (
  <ChangeDialog
    action="webhook enable"
    button="Enable"
    title="Enable the endpoint"
    inputOf={(_, why) => ({ ...on, why })}
    success={({ requeued }) => `The endpoint is enabled.${requeuedSentence(requeued)}`}
  >
    Webhooks are sent again from now on. Those that were stopped are not sent by themselves: replay them below.
  </ChangeDialog>
);

const Disable = ({ on }: { readonly on: OnEndpoint }) => (
  <ChangeDialog
    action="webhook disable"
    button="Disable"
    buttonVariant="default"
    title="Disable the endpoint"
    inputOf={(_, why) => ({ ...on, why })}
    success="The endpoint is disabled."
  >
    Nothing is sent until it is enabled again. Webhooks stay on record and can be replayed.
  </ChangeDialog>
);

const SendTest = ({ on, onTest }: { readonly on: OnEndpoint; readonly onTest: (answer: TestAnswer) => void }) => (
  <ChangeDialog
    action="webhook test"
    button="Send test event"
    title="Send a test event"
    inputOf={(_, why) => ({ ...on, why })}
    success="The test event was sent. The endpoint's answer is shown on this page."
    onDone={onTest}
  >
    One signed webhook.test event goes to the endpoint. It is about no order, and is sent also while the endpoint is
    disabled. If the endpoint failed before and accepts it, webhooks that wait are sent now, 1,000 at most. The others
    follow at their next retry, which for recent ones is within 6 minutes.
  </ChangeDialog>
);

type NamedEndpointProps = { readonly on: OnEndpoint; readonly name: string };

const RotateSecret = ({ on, name }: NamedEndpointProps) => (
  <ChangeDialog
    action="webhook secret rotate"
    button="Rotate secret"
    title="Rotate the signing secret"
    nameToType={name}
    inputOf={(_, why) => ({ ...on, why })}
    success="The signing secret was rotated."
    shownOnce={({ webhook_secret: secret, previous_until }) => ({
      title: "The new signing secret",
      label: "signing secret",
      secret,
      ...(previous_until !== null && {
        children: (
          <>
            Webhooks carry a signature of the previous secret too until <Time iso={previous_until} />.
          </>
        ),
      }),
    })}
    ifUnknown="Rotate it once more: the new secret cannot be shown any more."
  >
    A new secret is made. For 24 hours webhooks carry the signatures of both, so that your app can change over.
  </ChangeDialog>
);

const Remove = ({ on, name }: NamedEndpointProps) => (
  <ChangeDialog
    action="webhook remove"
    button="Remove"
    title={`Remove ${isolated(name)}`}
    nameToType={name}
    inputOf={(_, why) => ({ ...on, why })}
    success={`${isolated(name)} was removed.`}
    leadsTo={() => accountPath(on.account, "webhooks")}
  >
    Nothing is sent to it from now on. Webhooks that wait for it end as removed, and its secret is deleted.
  </ChangeDialog>
);
