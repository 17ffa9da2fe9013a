import * as z from "zod";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { isMaskedUrl } from "../../../shared/contract/shown-url.ts";
import { accountEventName } from "../../../shared/contract/webhook-events.ts";
import { ChangeDialog } from "../../components/change-dialog.tsx";
import { Empty } from "../../components/empty.tsx";
import { Facts } from "../../components/facts.tsx";
import { IrreversibleDialog } from "../../components/irreversible-dialog.tsx";
import { Notice } from "../../components/notice.tsx";
import { Section } from "../../components/page.tsx";
import { Status } from "../../components/status.tsx";
import { Time } from "../../components/time.tsx";

type Endpoint = ActionOutput<"webhook show">;
type TestAnswer = ActionOutput<"webhook test">;

const statuses = {
  on: { tone: "good", text: "Enabled" },
  off: { tone: "bad", text: "Disabled: nothing is sent" },
  none: { tone: "neutral", text: "No endpoint" },
} as const;

/** The endpoint, and what a person may do with it. */
export const EndpointSection = ({
  endpoint,
  onTest,
}: {
  readonly endpoint: Endpoint;
  readonly onTest: (answer: TestAnswer) => void;
}) => {
  const { account_id: account, url, status, failing_since, down, previous_secret_until, events } = endpoint;
  const { tone, text } = statuses[status];
  return (
    <Section
      title="Endpoint"
      actions={
        <>
          {/* It stays in place once there is a URL, because it then shows the first secret. */}
          <SetUrl account={account} url={url} />
          {url !== null && (
            <>
              <SendTest account={account} onTest={onTest} />
              <ChooseEvents account={account} events={events} />
              {status === "on" ? <Disable account={account} /> : <Enable account={account} />}
              <RotateSecret account={account} />
            </>
          )}
        </>
      }
    >
      {url === null ? (
        <Empty>There is no endpoint, so nothing is sent. Set the URL at which your app receives webhooks.</Empty>
      ) : (
        <Facts
          facts={[
            { name: "URL", value: url, isWide: true },
            { name: "Status", value: <Status tone={tone}>{text}</Status> },
            {
              name: "Fails since",
              value:
                failing_since === null ? (
                  <Status tone="good">Does not fail</Status>
                ) : (
                  <>
                    <Status tone="bad">{down ? "Down" : "Fails"}</Status> <Time iso={failing_since} />
                  </>
                ),
            },
            { name: "Events", value: events.join(", ") },
            ...(previous_secret_until !== null && Date.parse(previous_secret_until) > Date.now()
              ? [{ name: "Previous secret also signs until", value: <Time iso={previous_secret_until} /> }]
              : []),
          ]}
        />
      )}
      {down && (
        <Notice tone="attention" title="Webhooks wait until the endpoint works again">
          One at a time is tried every 1 to 5 minutes. The attempts below say how the endpoint answers. Correct the URL
          or the app, then send a test event: if the endpoint accepts it, 1,000 webhooks at most are sent now, and the
          others at their next retry.
        </Notice>
      )}
    </Section>
  );
};

/** What happens to the webhooks that waited for the endpoint; their number may be unknown. */
export const requeuedText = (requeued: number | null): string =>
  requeued === null ? "Follow within minutes" : `${requeued} sent now, the others at their next retry`;

const requeuedSentence = (requeued: number | null): string => {
  if (requeued === 0) return "";
  if (requeued === null) return " What waits follows within minutes.";
  return requeued === 1 ? " 1 webhook that waited is sent now." : ` ${requeued} webhooks that waited are sent now.`;
};

const SetUrl = ({ account, url }: { readonly account: string; readonly url: string | null }) => (
  <ChangeDialog
    action="webhook set"
    button={url === null ? "Set URL" : "Change URL"}
    buttonVariant={url === null ? "filled" : "default"}
    title={url === null ? "Set the URL of the endpoint" : "Change the URL of the endpoint"}
    fields={{
      url: {
        kind: "text",
        label: "URL",
        description: "It begins with https:// and is reached from the internet at port 443.",
        placeholder: "https://app.example.com/webhooks",
        // The values of a query are not shown, so they are typed again.
        initial: url === null || isMaskedUrl(url) ? "" : url,
      },
    }}
    inputOf={(values, why) => ({ account, url: values.url.trim(), why })}
    success={({ requeued }) => `The URL was set, and the endpoint is enabled.${requeuedSentence(requeued)}`}
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
    ifUnknown="If the URL is set and you have not seen the first signing secret, rotate it."
  >
    The endpoint is enabled, also if it was disabled, and webhooks that wait are sent to it now, 1,000 at most. The
    signing secret stays as it is.
  </ChangeDialog>
);

const eventTexts = {
  "wallet.low": "The balance fell below the threshold",
  "limit.near": "Orders use more than 80 % of a limit of the account or a key",
  "catalog.updated": "Data plans or their prices changed",
} as const;

const ChooseEvents = ({ account, events }: { readonly account: string; readonly events: readonly string[] }) => (
  <ChangeDialog
    action="webhook events"
    button="Choose events"
    buttonVariant="default"
    title="Choose events"
    fields={{
      events: {
        kind: "choices",
        label: "Events beside transaction.updated",
        description: "transaction.updated is always sent.",
        options: accountEventName.options.map((value) => ({ value, label: value, description: eventTexts[value] })),
        initial: accountEventName.options.filter((name) => events.includes(name)),
      },
    }}
    inputOf={(values, why) => ({ account, events: z.array(accountEventName).parse(values.events), why })}
    success="The events were chosen."
  />
);

const Enable = ({ account }: { readonly account: string }) => (
  <ChangeDialog
    action="webhook enable"
    button="Enable"
    title="Enable the endpoint"
    inputOf={(_, why) => ({ account, why })}
    success={({ requeued }) => `The endpoint is enabled.${requeuedSentence(requeued)}`}
  >
    Webhooks are sent again from now on. Those that were stopped are not sent by themselves: replay them below.
  </ChangeDialog>
);

const Disable = ({ account }: { readonly account: string }) => (
  <ChangeDialog
    action="webhook disable"
    button="Disable"
    buttonVariant="default"
    title="Disable the endpoint"
    inputOf={(_, why) => ({ account, why })}
    success="The endpoint is disabled."
  >
    Nothing is sent until it is enabled again. Webhooks stay on record and can be replayed.
  </ChangeDialog>
);

const SendTest = ({ account, onTest }: { readonly account: string; readonly onTest: (answer: TestAnswer) => void }) => (
  <ChangeDialog
    action="webhook test"
    button="Send test event"
    title="Send a test event"
    inputOf={(_, why) => ({ account, why })}
    success="The test event was sent. Its answer is shown below."
    onDone={onTest}
  >
    One signed webhook.test event goes to the endpoint. It is about no order, and is sent also while the endpoint is
    disabled. If the endpoint failed before and accepts it, webhooks that wait are sent now, 1,000 at most. The others
    follow at their next retry, which for recent ones is within 6 minutes.
  </ChangeDialog>
);

const RotateSecret = ({ account }: { readonly account: string }) => (
  <IrreversibleDialog
    action="webhook secret rotate"
    button="Rotate secret"
    title="Rotate the signing secret"
    nameToType={account}
    inputOf={(_, why) => ({ account, why })}
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
  </IrreversibleDialog>
);
