import { useAccount } from "../../api/use-account.ts";
import { usePerson } from "../../api/use-person.ts";
import { useRead } from "../../api/use-read.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { ShownWhileOpen } from "../../components/change/shown-while-open.tsx";
import { Page } from "../../components/page/page.tsx";
import { Query } from "../../components/page/query.tsx";
import { CsvButton } from "../../components/table/csv-button.tsx";
import { DataTable } from "../../components/table/data-table.tsx";

export const WhitelistPage = () => {
  const account = useAccount();
  const { may } = usePerson();
  const list = useRead("ips list", { account });
  return (
    <Page
      description="Requests are accepted from these addresses only, with any key of the account."
      actions={
        <>
          <CsvButton
            name={`whitelist-${account}`}
            rows={list.data?.ips}
            columns={[["address", (address) => address]]}
          />
          {may("ips allow", account) && <AddMine account={account} />}
          <AddAddresses account={account} />
        </>
      }
    >
      <Query of={list}>
        {({ ips }) => (
          <DataTable
            label="Addresses"
            rows={ips}
            rowKey={(address) => address}
            emptyText="No address is allowed, so every request is refused (403). Add the addresses that your app calls from."
            columns={[
              { header: "Address or range", cell: (address) => <code>{address}</code> },
              {
                header: "Changes",
                hidesHeader: true,
                align: "end",
                cell: (address) => <Remove account={account} address={address} isLast={ips.length === 1} />,
              },
            ]}
          />
        )}
      </Query>
    </Page>
  );
};

const AddAddresses = ({ account }: { readonly account: string }) => (
  <ChangeDialog
    action="ips allow"
    button="Add addresses"
    title="Add addresses"
    fields={{
      ranges: {
        kind: "longText",
        label: "Addresses or ranges, one on each line",
        description:
          "Such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/64. At most 20 in all. Only operators add ranges wider than /24, or than /48 of IPv6.",
      },
    }}
    inputOf={({ ranges }, why) => ({ account, ranges: linesOf(ranges), why })}
    success="The addresses were added."
  >
    <p>Requests from there are then accepted with any key of the account.</p>
  </ChangeDialog>
);

const linesOf = (text: string): string[] => text.split(/[\s,]+/).filter((line) => line !== "");

/** The address of this browser, which is the app's only if both leave by the same connection. */
const AddMine = ({ account }: { readonly account: string }) => {
  const { data } = useRead("ips mine", { account });
  if (data === undefined) return null;
  return (
    <ShownWhileOpen isShown={!data.is_allowed}>
      <ChangeDialog
        action="ips allow"
        button="Add my address"
        buttonVariant="default"
        title={`Add ${data.address}`}
        inputOf={(_, why) => ({ account, ranges: [data.address], why })}
        success={`${data.address} was added.`}
      >
        <p>
          Your browser reaches the service from {data.address}. Add it if your app calls from the same place, for
          example while you try it on this machine.
        </p>
      </ChangeDialog>
    </ShownWhileOpen>
  );
};

type RemoveProps = { readonly account: string; readonly address: string; readonly isLast: boolean };

const Remove = ({ account, address, isLast }: RemoveProps) => (
  <ChangeDialog
    action="ips disallow"
    button="Remove"
    subject={address}
    buttonSize="xs"
    title={`Remove ${address}`}
    inputOf={(_, why) => ({ account, ranges: [address], why })}
    success={`${address} was removed.`}
  >
    <p>
      Requests from there are refused (403) from now on.
      {isLast && " It is the last address: without one every request of the account is refused."}
    </p>
  </ChangeDialog>
);
