import type { ReactNode } from "react";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { FOUND_MAX } from "../../../shared/contract/actions/search.ts";
import { counted } from "../../../shared/contract/values/counted.ts";
import { dateIn } from "../../../shared/contract/values/time-zone.ts";
import { usePerson } from "../../api/use-person.ts";
import { useRead } from "../../api/use-read.ts";
import { Empty } from "../../components/page/empty.tsx";
import { KeyMode, KeyStatus } from "../../components/page/key-values.tsx";
import { Page, Section } from "../../components/page/page.tsx";
import { accountPath, PageLink, rowPath } from "../../components/page/page-link.tsx";
import { Query } from "../../components/page/query.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { useSearch } from "../../components/table/search.tsx";
import { AccountStatus } from "../../components/values/account-status.tsx";
import { DeliveryState } from "../../components/values/delivery-state.tsx";
import { Money } from "../../components/values/money.tsx";
import { lineKey, STATEMENT_TABLE, TransactionLink } from "../../components/values/record-links.tsx";
import { Status } from "../../components/values/status.tsx";
import { Time } from "../../components/values/time.tsx";
import { TransactionStatusText } from "../../components/values/transaction-values.tsx";
import { EventState } from "../../components/values/upstream-event-values.tsx";

type Found = ActionOutput<"search">;

const WHAT_IS_FOUND =
  "A phone number in any spelling; our reference, the caller's or the upstream's; the bank's reference of a transfer that was credited; the name of an account; or the id of an account, a key, an event or a webhook that is about no order.";

export const SearchPage = () => {
  const { text } = useSearch();
  const found = useRead("search", { text }, { enabled: text !== "" });
  const hasNothing = text === "" || (found.data !== undefined && numberOf(found.data) === 0);
  return (
    <Page description={hasNothing ? WHAT_IS_FOUND : undefined}>
      <p role="status" className="visually-hidden">
        {found.data !== undefined && counted(numberOf(found.data), "result")}
      </p>
      {text === "" ? (
        <Empty>Type into the field at the top of the page. Ctrl-K goes there.</Empty>
      ) : (
        <Query of={found}>{(answer) => <Results text={text} found={answer} />}</Query>
      )}
    </Page>
  );
};

/** What is said of a kind of which as much was found as is shown at most. */
const moreText = (rows: readonly unknown[], advice: string): string | undefined =>
  rows.length < FOUND_MAX ? undefined : `Only ${FOUND_MAX} are shown: there may be more. ${advice}`;

const numberOf = (found: Found): number => Object.values(found).reduce((sum, items) => sum + items.length, 0);

const Results = ({ text, found }: { readonly text: string; readonly found: Found }) => {
  if (numberOf(found) === 0) {
    return (
      <Empty>
        Nothing is found for “{text}”. If it is a phone number, no order was placed for it, or only old ones whose
        numbers are masked. A reference must be whole, and that of a bank transfer is found once it is credited.
      </Empty>
    );
  }
  return (
    <>
      <FoundTable
        title="Orders and checks"
        description={
          found.transactions.length === FOUND_MAX ? `The newest ${FOUND_MAX}: there may be older ones.` : undefined
        }
        rows={found.transactions}
        rowKey={({ reference }) => reference}
        columns={[
          {
            header: "Order or check",
            cell: ({ account_id, reference, description }) => (
              <>
                <TransactionLink account={account_id} reference={reference} />
                <div>{description}</div>
              </>
            ),
          },
          {
            header: "Status",
            cell: ({ status, mode }) => (
              <>
                <TransactionStatusText status={status} /> {mode === "test" && <Status tone="attention">Test</Status>}
              </>
            ),
          },
          { header: "Amount", align: "end", cell: ({ amount }) => <Money naira={amount} /> },
          { header: "Created", cell: ({ created_at }) => <Time iso={created_at} /> },
          accountColumn,
        ]}
      />
      <FoundTable
        title="Bank transfers"
        rows={found.fundings}
        rowKey={({ id }) => id}
        columns={[
          { header: "The bank's reference", cell: (funding) => <FundingLink funding={funding} /> },
          {
            header: "State",
            cell: ({ is_reversed }) =>
              is_reversed ? <Status tone="attention">Reversed</Status> : <Status tone="good">Credited</Status>,
          },
          { header: "Amount", align: "end", cell: ({ amount }) => <Money naira={amount} /> },
          { header: "Credited", cell: ({ at }) => <Time iso={at} /> },
          accountColumn,
        ]}
      />
      <FoundTable
        title="Accounts"
        description={moreText(found.accounts, "Search for a longer part of the name.")}
        rows={found.accounts}
        rowKey={({ account_id }) => account_id}
        columns={[
          {
            header: "Name",
            cell: ({ account_id, name }) => <PageLink to={accountPath(account_id)}>{name}</PageLink>,
          },
          { header: "Status", cell: ({ status }) => <AccountStatus status={status} /> },
          { header: "Id", cell: ({ account_id }) => account_id },
          { header: "Created", cell: ({ created_at }) => <Time iso={created_at} /> },
        ]}
      />
      <FoundTable
        title="Keys"
        description={moreText(found.keys, "Search for more of the id.")}
        rows={found.keys}
        rowKey={({ key_id }) => key_id}
        columns={[
          {
            header: "Key",
            cell: ({ account_id, key_id }) => (
              <PageLink to={rowPath(accountPath(account_id, "keys"), "Keys", key_id)}>{key_id}</PageLink>
            ),
          },
          { header: "Status", cell: (key) => <KeyStatus keyOf={key} /> },
          { header: "Mode", cell: (key) => <KeyMode keyOf={key} /> },
          accountColumn,
          { header: "Created", cell: ({ created_at }) => <Time iso={created_at} /> },
        ]}
      />
      <FoundTable
        title="Upstream events"
        rows={found.events}
        rowKey={({ event }) => event}
        columns={[
          {
            header: "Event",
            cell: ({ event }) => (
              <PageLink to={`/unmatched?${new URLSearchParams({ state: "all", event })}`}>{event}</PageLink>
            ),
          },
          { header: "State", cell: (event) => <EventState event={event} /> },
          { header: "Received", cell: ({ at }) => <Time iso={at} /> },
        ]}
      />
      <FoundTable
        title="Webhooks"
        rows={found.deliveries}
        rowKey={({ webhook_id }) => webhook_id}
        columns={[
          {
            header: "Webhook",
            cell: ({ account_id, webhook_id }) => (
              <PageLink to={`${accountPath(account_id, "webhooks")}?reference=${webhook_id}`}>{webhook_id}</PageLink>
            ),
          },
          { header: "State", cell: (delivery) => <DeliveryState delivery={delivery} /> },
          { header: "Event", cell: ({ event }) => event },
          accountColumn,
          { header: "Created", cell: ({ created_at }) => <Time iso={created_at} /> },
        ]}
      />
    </>
  );
};

/** Leads to its line of the statement, for those who may read that. */
const FundingLink = ({ funding: { account_id, id, at } }: { readonly funding: Found["fundings"][number] }) => {
  const { may, time_zone } = usePerson();
  if (!may("wallet statement", account_id)) return id;
  const day = dateIn(Date.parse(at), time_zone);
  return (
    <PageLink
      to={rowPath(accountPath(account_id, "statement"), STATEMENT_TABLE, lineKey({ kind: "funding", id }), {
        from: day,
        to: day,
      })}
    >
      {id}
    </PageLink>
  );
};

type Named = { readonly account_id: string; readonly account_name: string };

const accountColumn = {
  header: "Account",
  cell: ({ account_id, account_name }: Named) => <PageLink to={accountPath(account_id)}>{account_name}</PageLink>,
};

type FoundTableProps<Row> = Omit<Parameters<typeof DataTable<Row>>[0], "label" | "emptyText"> & {
  readonly title: string;
  readonly description?: ReactNode;
};

/** What was found of one kind: nothing is shown of a kind that was not found. */
const FoundTable = <Row,>({ title, description, ...table }: FoundTableProps<Row>) =>
  table.rows.length === 0 ? null : (
    <Section title={title} description={description}>
      <DataTable label={title} emptyText="" {...table} />
    </Section>
  );
