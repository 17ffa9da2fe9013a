import { NativeSelect, TextInput } from "@mantine/core";
import * as z from "#zod";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import type { DataPlan, Network } from "../../../shared/contract/catalog.ts";
import { counted } from "../../../shared/contract/values/counted.ts";
import { nairaDecimals } from "../../../shared/contract/values/money.ts";
import { useFilters } from "../../api/use-filters.ts";
import { useRead } from "../../api/use-read.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { UnchangedWhileOpen } from "../../components/change/unchanged-while-open.tsx";
import { Facts } from "../../components/page/facts.tsx";
import { Notice } from "../../components/page/notice.tsx";
import { Page, Row, Section } from "../../components/page/page.tsx";
import { Query } from "../../components/page/query.tsx";
import { CsvButton } from "../../components/table/csv-button.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { Money } from "../../components/values/money.tsx";
import { Status } from "../../components/values/status.tsx";
import { Time } from "../../components/values/time.tsx";
import type { Tone } from "../../components/values/tones.ts";

type Served = NonNullable<ActionOutput<"catalog show">["served"]>;
const filterFields = z.object({ network: z.catch(z.string(), ""), name: z.catch(z.string(), "") });

type Refused = NonNullable<ActionOutput<"catalog diff">["refused"]>;

/** What the service sells, and the upstream's newer catalog if it was not taken over. */
export const CatalogPage = () => {
  const shown = useRead("catalog show", {});
  const diff = useRead("catalog diff", {});
  return (
    <Page description="The networks and data plans that apps can buy. The upstream is asked for them each hour, and each minute while that fails.">
      <Query of={diff}>
        {(compared) => (
          <UnchangedWhileOpen value={compared.refused}>
            {(refused) =>
              refused !== null && <RefusedCatalog refused={refused} networks={shown.data?.served?.networks} />
            }
          </UnchangedWhileOpen>
        )}
      </Query>
      <Query of={shown}>
        {({ served }) =>
          served === null ? (
            <Notice tone="attention" title="No catalog is served yet">
              Until one is, no data plan can be sold. The page Doctor says what is wrong.
            </Notice>
          ) : (
            <ServedCatalog served={served} />
          )
        }
      </Query>
    </Page>
  );
};

const nameOf = (networks: readonly Network[], id: number): string =>
  networks.find((network) => network.id === id)?.name ?? `Network ${id}`;

const ServedCatalog = ({ served }: { readonly served: Served }) => {
  const [{ network, name: search }, choose] = useFilters(filterFields);
  const { networks, data_plans, dropped } = served;
  // The address may have a network that is not sold any more.
  const isKnown = network === "" || networks.some(({ id }) => String(id) === network);
  const rows = data_plans.filter(
    ({ network_id, name, id }) =>
      (network === "" || String(network_id) === network) &&
      `${name} ${id}`.toLowerCase().includes(search.trim().toLowerCase()),
  );
  return (
    <>
      <Section title="Served">
        <Facts
          facts={[
            { name: "Fetched", value: <Time iso={served.fetched_at} /> },
            { name: "Age", value: served.age },
            { name: "Networks", value: networks.map(({ name }) => name).join(", ") },
            { name: "Plans", value: data_plans.length },
          ]}
        />
        {dropped.count > 0 && (
          <>
            <Notice tone="attention" title={`Not sold: ${counted(dropped.count, "entry", "entries")} of the upstream`}>
              They are invalid. Send this list to the upstream.
            </Notice>
            <DataTable
              label="Entries that are not sold"
              columns={[
                { header: "Entry", cell: ({ kind, id }) => `${kind === "plan" ? "Plan" : "Network"} ${id}` },
                { header: "Invalid field", cell: ({ field }) => field },
              ]}
              rows={dropped.first}
              rowKey={({ kind, id, field }) => `${kind} ${id} ${field}`}
              emptyText=""
            />
          </>
        )}
      </Section>
      <Section
        title="Data plans"
        actions={
          <CsvButton
            name="data-plans"
            rows={rows}
            columns={[
              ...(["id", "name"] as const),
              ["network", ({ network_id }) => nameOf(networks, network_id)],
              ["price", ({ price }) => nairaDecimals(price)],
              "validity",
            ]}
          />
        }
      >
        <Row>
          <NativeSelect
            label="Network"
            data={[
              { value: "", label: "All networks" },
              ...networks.map(({ id, name }) => ({ value: String(id), label: name })),
              ...(isKnown ? [] : [{ value: network, label: `Network ${network}` }]),
            ]}
            value={network}
            onChange={({ currentTarget }) => choose({ network: currentTarget.value })}
          />
          <TextInput
            label="Name or id contains"
            type="search"
            value={search}
            onChange={({ currentTarget }) => choose({ name: currentTarget.value })}
          />
        </Row>
        <DataTable
          label="Data plans"
          columns={[
            { header: "Plan", cell: ({ name }) => name, sort: "name" },
            {
              header: "Network",
              cell: ({ network_id }) => nameOf(networks, network_id),
              sort: ({ network_id }) => nameOf(networks, network_id),
            },
            { header: "Price", cell: ({ price }) => <Money naira={price} />, align: "end", sort: "price" },
            { header: "Validity", cell: ({ validity }) => validity },
            { header: "Id", cell: ({ id }) => String(id), align: "end" },
          ]}
          rows={rows}
          rowKey={({ id }) => String(id)}
          emptyText={
            data_plans.length === 0 ? "The served catalog has no plans." : "No plan matches. Change the filters above."
          }
        />
      </Section>
    </>
  );
};

type Change = {
  readonly tone: Tone;
  readonly change: string;
  readonly plan: DataPlan;
  readonly previousPrice?: number;
};

const changesOf = ({ added, removed, repriced }: Refused): readonly Change[] => [
  ...removed.map((plan): Change => ({ tone: "bad", change: "Removed", plan })),
  ...repriced.map(
    (plan): Change => ({ tone: "attention", change: "New price", plan, previousPrice: plan.previous_price }),
  ),
  ...added.map((plan): Change => ({ tone: "good", change: "New", plan })),
];

const CATALOG = "catalog";

const RefusedCatalog = ({
  refused,
  networks = [],
}: {
  readonly refused: Refused;
  readonly networks?: readonly Network[] | undefined;
}) => {
  const changes = changesOf(refused);
  const known = [...networks, ...refused.networks_added];
  const networkText = [
    ...refused.networks_added.map(({ name, code }) => `${name} (${code}) is new`),
    ...refused.networks_removed.map(({ name, code }) => `${name} (${code}) is removed`),
  ].join(", ");
  return (
    <Section
      title="Refused"
      description="The upstream sent this newer catalog. It is not served, because it has no plans, or less than half of those in the previous one. That is usually a fault of the upstream. One with less than half is served without an acceptance once the previous catalog is 24 hours old."
      actions={
        <ChangeDialog
          action="catalog accept"
          button="Accept this catalog"
          title="Accept the refused catalog"
          nameToType={CATALOG}
          fields={{ fetched_at: { kind: "seen", initial: refused.fetched_at } }}
          inputOf={({ fetched_at }, why) => ({ fetched_at, why })}
          success={({ plans }) => `The catalog with ${counted(plans, "plan")} is served now.`}
        >
          <p>
            Apps can then buy {counted(refused.plans, "plan")}. Ask the upstream first whether it sells no others. The
            catalog that is served now is gone.
          </p>
        </ChangeDialog>
      }
    >
      <Facts
        facts={[
          { name: "Fetched", value: <Time iso={refused.fetched_at} /> },
          { name: "Plans", value: refused.plans },
          { name: "Invalid entries", value: refused.dropped },
          { name: "Networks", value: networkText === "" ? "The same" : networkText },
        ]}
      />
      <DataTable
        label="What would change"
        columns={[
          { header: "Plan", cell: ({ plan }) => plan.name },
          { header: "Change", cell: ({ tone, change }) => <Status tone={tone}>{change}</Status> },
          { header: "Network", cell: ({ plan }) => nameOf(known, plan.network_id) },
          { header: "Price", cell: ({ plan }) => <Money naira={plan.price} />, align: "end" },
          {
            header: "Price before",
            cell: ({ previousPrice }) => (previousPrice === undefined ? "–" : <Money naira={previousPrice} />),
            align: "end",
          },
          { header: "Id", cell: ({ plan }) => String(plan.id), align: "end" },
        ]}
        rows={changes}
        rowKey={({ change, plan }) => `${change} ${plan.id}`}
        emptyText="No plan would change."
      />
    </Section>
  );
};
