import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { rolesText } from "../../../shared/contract/roles.ts";
import { useRead } from "../../api/use-read.ts";
import { Page, Section } from "../../components/page/page.tsx";
import { accountPath, PageLink } from "../../components/page/page-link.tsx";
import { Query } from "../../components/page/query.tsx";
import { CsvButton } from "../../components/table/csv-button.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { AccountLink } from "../../components/values/record-links.tsx";
import { Status } from "../../components/values/status.tsx";
import { Time } from "../../components/values/time.tsx";

type Person = ActionOutput<"access people">["people"][number];
type Access = ActionOutput<"access review">["access"][number];

const personMayText = ({ roles, is_owner }: Person): string => rolesText(roles, is_owner);

export const PeoplePage = () => {
  const people = useRead("access people", {});
  const access = useRead("access review", {});
  return (
    <Page description="Who may do what: people, by their last sign-in, and the keys and owners of each account.">
      <Section
        title="Sign-ins"
        description="Roles are groups at the identity provider, which has all their members. Here are those who have signed in, and owners who never did."
        actions={
          <CsvButton
            name="people"
            rows={people.data?.people}
            columns={[
              "name",
              ["roles", ({ roles }) => roles.join(" ")],
              ["accounts", ({ accounts }) => accounts.map(({ account_id }) => account_id).join(" ")],
              ...(["first_signed_in_at", "last_signed_in_at"] as const),
            ]}
          />
        }
      >
        <Query of={people}>
          {(data) => (
            <DataTable
              label="Sign-ins"
              rows={data.people}
              rowKey={({ name, first_signed_in_at }) => `${name} ${first_signed_in_at}`}
              emptyText="Nobody has signed in yet, and no account has an owner."
              columns={[
                { header: "Person", cell: ({ name }) => <PersonLink name={name} />, sort: "name" },
                { header: "May do", cell: personMayText, sort: personMayText },
                { header: "Owns", cell: ({ accounts }) => <Owned accounts={accounts} /> },
                {
                  header: "First sign-in",
                  cell: ({ first_signed_in_at: at }) => <SignedIn at={at} />,
                  sort: "first_signed_in_at",
                },
                {
                  header: "Last sign-in",
                  cell: ({ last_signed_in_at: at }) => <SignedIn at={at} />,
                  sort: "last_signed_in_at",
                },
              ]}
            />
          )}
        </Query>
      </Section>
      <Section
        title="Keys and owners"
        description="Each key that is neither revoked nor ended, and each owner, by account."
        actions={
          <CsvButton
            name="access"
            rows={access.data?.access}
            columns={[
              ...(["account_id", "account", "kind", "holder", "name", "mode"] as const),
              ["may", ({ may }) => may.join(" ")],
              ...(["is_restricted", "created_at", "last_used_at"] as const),
            ]}
          />
        }
      >
        <Query of={access}>
          {(data) => (
            <DataTable
              label="Keys and owners"
              rows={data.access}
              rowKey={({ account_id, kind, holder }) => `${account_id} ${kind} ${holder}`}
              emptyText="No account has a key or an owner yet."
              columns={[
                { header: "Account", cell: ({ account_id }) => <AccountLink account={account_id} /> },
                {
                  header: "Key or owner",
                  cell: (each) => <Holder of={each} />,
                  sort: ({ kind, holder }) => `${kind} ${holder}`,
                },
                { header: "May do", cell: (each) => mayText(each) },
                {
                  header: "Created",
                  cell: ({ created_at: at }) => (at === null ? "–" : <Time iso={at} />),
                  sort: "created_at",
                },
                {
                  header: "Last request",
                  cell: ({ last_used_at: at }) => (at === null ? "–" : <Time iso={at} />),
                  sort: "last_used_at",
                },
              ]}
            />
          )}
        </Query>
      </Section>
    </Page>
  );
};

/** What the person did. */
const PersonLink = ({ name }: Pick<Person, "name">) => (
  <PageLink to={`/audit?person=${encodeURIComponent(name)}`}>{name}</PageLink>
);

const Owned = ({ accounts }: Pick<Person, "accounts">) =>
  accounts.length === 0
    ? "–"
    : accounts.map(({ account_id, name }) => (
        <div key={account_id}>
          <PageLink to={accountPath(account_id, "settings")}>{name}</PageLink>
        </div>
      ));

const SignedIn = ({ at }: { readonly at: string | null }) => (at === null ? "Never" : <Time iso={at} />);

const Holder = ({ of: { kind, holder, name } }: { readonly of: Access }) =>
  kind === "owner" ? (
    holder.replace(/^email:/, "").replace(/^group:/, "Group ")
  ) : (
    <>
      {name} <code>{holder}</code>
    </>
  );

const mayText = ({ kind, may, is_restricted }: Access) => {
  if (is_restricted) return <Status tone="attention">Restricted</Status>;
  if (kind === "owner") return "Manages the account";
  return may.join(", ") || "Nothing";
};
