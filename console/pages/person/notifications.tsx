import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import {
  isOfAllAccounts,
  type NotificationKind,
  notificationKind,
  notificationTitles,
  SIGN_IN_DAYS_MAX,
} from "../../../shared/contract/notification-kinds.ts";
import { usePerson } from "../../api/use-person.ts";
import { useRead } from "../../api/use-read.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { Facts } from "../../components/page/facts.tsx";
import { Notice } from "../../components/page/notice.tsx";
import { Page, Section } from "../../components/page/page.tsx";
import { Query } from "../../components/page/query.tsx";
import { CsvButton } from "../../components/table/csv-button.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { isolated } from "../../components/values/isolated.ts";
import { Status } from "../../components/values/status.tsx";
import { Time } from "../../components/values/time.tsx";

type Choices = ActionOutput<"notifications show">;
type Recipient = ActionOutput<"notifications list">["recipients"][number];

export const NotificationsPage = () => {
  const choices = useRead("notifications show", {});
  const { may } = usePerson();
  return (
    <Page
      description={`Messages when you are not in the console: once, and again after a day while the problem lasts. They end ${SIGN_IN_DAYS_MAX} days after your last sign-in.`}
    >
      <Query of={choices}>{(data) => <Own choices={data} />}</Query>
      {may("notifications list") && <People />}
    </Page>
  );
};

const descriptions: Readonly<Record<NotificationKind, string>> = {
  "wallet.low": "A balance is below its threshold",
  "endpoint.down": "Or switched off, because it kept failing",
  "order.stuck": "For more than 15 minutes",
  "statement.ready": "A month was closed",
};

const kindsText = (kinds: readonly NotificationKind[]): string =>
  kinds.length === 0 ? "Nothing" : kinds.map((kind) => notificationTitles[kind]).join(", ");

const statusTexts: Readonly<
  Record<Choices["email"]["status"], { readonly tone: "good" | "bad" | "attention" | "neutral"; readonly text: string }>
> = {
  off: { tone: "neutral", text: "Off" },
  on: { tone: "good", text: "On" },
  failing: { tone: "attention", text: "The last message was not taken; it is tried again" },
  given_up: { tone: "bad", text: "Given up: no message was taken for 11 hours" },
  expired: { tone: "bad", text: `Ended: no sign-in for ${SIGN_IN_DAYS_MAX} days` },
  unconfirmed: { tone: "attention", text: "Not confirmed" },
  unsubscribed: { tone: "bad", text: "Unsubscribed" },
};

const StatusText = ({ of }: { readonly of: Choices["email"]["status"] }) => (
  <Status tone={statusTexts[of].tone}>{statusTexts[of].text}</Status>
);

const Own = ({ choices: { email, slack } }: { readonly choices: Choices }) => (
  <Section title="Your notifications" actions={<Choose choices={{ email, slack }} />}>
    {email.status === "unconfirmed" && (
      <Notice tone="attention" title="Confirm your address">
        AWS has sent an e-mail to {email.address}. Open the link in it within 2 days: until then you get no e-mails. To
        get it again, choose and save.
      </Notice>
    )}
    {email.status === "unsubscribed" && (
      <Notice tone="attention" title="Your address gets no e-mails">
        The link at the end of an e-mail was followed, the address was not confirmed within 2 days, your provider has
        verified another one since, or you had not signed in for {SIGN_IN_DAYS_MAX} days and another person needed the
        place. Choose and save, then open the link in the e-mail of AWS.
      </Notice>
    )}
    {(email.status === "given_up" || slack.status === "given_up") && (
      <Notice tone="attention" title="Messages were not taken">
        Nothing is sent there any more. Choose and save to try again, with a new webhook URL if it is the chat.
      </Notice>
    )}
    <Facts
      facts={[
        {
          name: "E-mail",
          value: (
            <>
              {email.address ?? "Your identity provider has verified no address"} <StatusText of={email.status} />
            </>
          ),
        },
        { name: "By e-mail", value: kindsText(email.kinds) },
        {
          name: "Chat",
          value: (
            <>
              {slack.host} <StatusText of={slack.status} />
            </>
          ),
        },
        { name: "To the chat", value: kindsText(slack.kinds) },
      ]}
    />
  </Section>
);

const isKind = (value: string): value is NotificationKind => notificationKind.safeParse(value).success;

const Choose = ({ choices: { email, slack } }: { readonly choices: Choices }) => {
  const { roles, owns } = usePerson();
  const isOffered = (kind: NotificationKind): boolean =>
    owns.length > 0 || isOfAllAccounts(kind, roles) || email.kinds.includes(kind) || slack.kinds.includes(kind);
  const options = notificationKind.options.filter(isOffered).map((kind) => {
    const whose = isOfAllAccounts(kind, roles) ? "of any account" : "of an account that you own";
    return { value: kind, label: notificationTitles[kind], description: `${descriptions[kind]}, ${whose}` };
  });
  return (
    <ChangeDialog
      action="notifications choose"
      button="Choose notifications"
      title="Choose your notifications"
      fields={{
        email: { kind: "choices", label: "By e-mail", options, initial: email.kinds },
        slack: { kind: "choices", label: "To a chat", options, initial: slack.kinds },
        slack_url: {
          kind: "secret",
          isOptional: true,
          label:
            slack.host === null ? "Webhook URL of the chat" : `New webhook URL, instead of the one at ${slack.host}`,
          description:
            "An incoming webhook of Slack, or of a chat that takes the same. A message is posted to it now. It is not shown again.",
        },
      }}
      preview={({ email: byEmail, slack: toChat }) => ({
        sentence: `By e-mail: ${kindsText(byEmail.filter(isKind))}. To a chat: ${kindsText(toChat.filter(isKind))}.`,
        button: "Save",
      })}
      inputOf={(values, why) => ({
        email: values.email.filter(isKind),
        slack: values.slack.filter(isKind),
        ...(values.slack_url.trim() !== "" && { slack_url: values.slack_url.trim() }),
        why,
      })}
      success={(output) =>
        output.email.status === "unconfirmed"
          ? "Saved. Open the link in the e-mail that AWS has sent to you."
          : "Your notifications were saved."
      }
    >
      Choose nothing to get none; the address and the URL are then forgotten.
    </ChangeDialog>
  );
};

const People = () => {
  const list = useRead("notifications list", {});
  return (
    <Section
      title="All people"
      description="Who is notified of what. End the notifications of a person who left."
      actions={
        <CsvButton
          name="notifications"
          rows={list.data?.recipients}
          columns={[
            "name",
            ["email", ({ email }) => email.join(" ")],
            "email_status",
            ["slack", ({ slack }) => slack.join(" ")],
            "slack_host",
            "slack_status",
            "since",
            "until",
          ]}
        />
      }
    >
      <Query of={list}>
        {({ recipients }) => (
          <DataTable
            label="Notifications of all people"
            rows={recipients}
            rowKey={({ name, since }) => `${name} ${since}`}
            emptyText="Nobody has chosen any notification."
            columns={[
              { header: "Person", cell: ({ name }) => name, sort: "name" },
              { header: "By e-mail", cell: (each) => <Chosen kinds={each.email} status={each.email_status} /> },
              {
                header: "To a chat",
                cell: (each) => <Chosen kinds={each.slack} status={each.slack_status} host={each.slack_host} />,
              },
              { header: "Since", cell: ({ since }) => <Time iso={since} />, sort: "since" },
              { header: "Until", cell: ({ until }) => until && <Time iso={until} /> },
              { header: "Action", cell: ({ name }) => <Stop name={name} /> },
            ]}
          />
        )}
      </Query>
    </Section>
  );
};

type ChosenProps = {
  readonly kinds: readonly NotificationKind[];
  readonly status: Recipient["email_status"];
  readonly host?: string | null;
};

const Chosen = ({ kinds, status, host }: ChosenProps) => (
  <>
    {kindsText(kinds)}
    {host && ` at ${host}`} {status !== "on" && status !== "off" && <StatusText of={status} />}
  </>
);

const Stop = ({ name }: Pick<Recipient, "name">) => (
  <ChangeDialog
    action="notifications stop"
    button="End notifications"
    subject={name}
    buttonSize="xs"
    title="End the notifications of a person"
    inputOf={(_, why) => ({ person: name, why })}
    success={`The notifications of ${isolated(name)} were ended.`}
  >
    No more messages are sent to <bdi>{name}</bdi>. A person who still has a role or an account can choose again.
  </ChangeDialog>
);
