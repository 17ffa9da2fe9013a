import { TextInput } from "@mantine/core";
import * as z from "#zod";
import { nairaDecimals } from "../../../shared/contract/values/money.ts";
import { useFilters } from "../../api/use-filters.ts";
import { useRead } from "../../api/use-read.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { Page, Row } from "../../components/page/page.tsx";
import { accountPath, PageLink } from "../../components/page/page-link.tsx";
import { Query } from "../../components/page/query.tsx";
import { CsvButton } from "../../components/table/csv-button.tsx";
import { DataTable, RowSummary } from "../../components/table/data-table.tsx";
import { AccountStatus } from "../../components/values/account-status.tsx";
import { isolated } from "../../components/values/isolated.ts";
import { Money } from "../../components/values/money.tsx";
import { Time } from "../../components/values/time.tsx";
import { Unbroken } from "../../components/values/unbroken.tsx";

const filterFields = z.object({ name: z.catch(z.string(), "") });

export const AccountsPage = () => {
  const [{ name: search }, choose] = useFilters(filterFields);
  const accounts = useRead("accounts list", {});
  const searched = search.trim().toLowerCase();
  const shown = accounts.data?.accounts.filter(({ name, account_id }) =>
    [name, account_id].some((text) => text.toLowerCase().includes(searched)),
  );
  return (
    <Page
      description="One account for each app that calls the service."
      actions={
        <>
          <CsvButton
            name="accounts"
            rows={shown}
            columns={[
              "account_id",
              "name",
              "status",
              ["balance", ({ balance }) => nairaDecimals(balance)],
              "created_at",
            ]}
          />
          <CreateAccount />
        </>
      }
    >
      <Row>
        <TextInput
          label="Search by name or id"
          value={search}
          onChange={({ currentTarget }) => choose({ name: currentTarget.value })}
        />
      </Row>
      <RowSummary rows={shown} amountOf={({ balance }) => balance} hasMore={false} />
      <Query of={accounts}>
        {() => (
          <DataTable
            label="Accounts"
            rows={shown ?? []}
            rowKey={({ account_id }) => account_id}
            emptyText={
              searched === ""
                ? "There is no account yet. An operator creates one for each app."
                : `No account has "${search.trim()}" in its name or id.`
            }
            columns={[
              {
                header: "Name",
                cell: ({ account_id, name }) => (
                  <PageLink to={accountPath(account_id)}>
                    <Unbroken text={name} />
                  </PageLink>
                ),
                sort: "name",
              },
              { header: "Status", cell: ({ status }) => <AccountStatus status={status} />, sort: "status" },
              { header: "Balance", align: "end", cell: ({ balance }) => <Money naira={balance} />, sort: "balance" },
              { header: "Account", cell: ({ account_id }) => <code>{account_id}</code> },
              { header: "Created", cell: ({ created_at }) => <Time iso={created_at} />, sort: "created_at" },
            ]}
          />
        )}
      </Query>
    </Page>
  );
};

const CreateAccount = () => (
  <ChangeDialog
    action="accounts create"
    button="Create account"
    title="Create an account"
    fields={{ name: { kind: "text", label: "Name", description: "The app's name, as people know it." } }}
    inputOf={({ name }, why) => ({ name, why })}
    success={({ name }) => `The account ${isolated(name)} was created.`}
    leadsTo={({ account_id }) => accountPath(account_id, "settings")}
    ifUnknown="If the account is in the list, it was created."
  >
    <p>
      It begins with an empty wallet. Before its app can call, add the app's addresses to the whitelist and create a
      key.
    </p>
  </ChangeDialog>
);
