import { useMemo } from "react";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { RECENT_HOURS } from "../../../shared/contract/actions/upstream.ts";
import { rateGroups } from "../../../shared/contract/limits.ts";
import { percentText } from "../../../shared/contract/values/percent-text.ts";
import { usePerson } from "../../api/use-person.ts";
import { useRead } from "../../api/use-read.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { ShownWhileOpen } from "../../components/change/shown-while-open.tsx";
import { UnchangedWhileOpen } from "../../components/change/unchanged-while-open.tsx";
import { ofNetworks, withinText } from "../../components/charts/statistics.ts";
import { Facts } from "../../components/page/facts.tsx";
import { Notice } from "../../components/page/notice.tsx";
import { Columns, Page, Section } from "../../components/page/page.tsx";
import { PageLink } from "../../components/page/page-link.tsx";
import { Query } from "../../components/page/query.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { Status } from "../../components/values/status.tsx";
import { Time } from "../../components/values/time.tsx";
import { durationText, sendingText } from "../../components/values/transaction-values.tsx";
import { partField } from "./part-field.ts";

const REFRESH_MS = 30_000;

/** Whether orders go to the upstream, how it answers, and how many it takes. */
export const UpstreamPage = () => {
  const upstream = useRead("upstream show", {}, { everyMs: REFRESH_MS });
  const purchases = useRead("purchases show", {}, { everyMs: REFRESH_MS });
  return (
    <Page description="The company's supplier: whether orders go to it, how it answers, and its limit.">
      <Columns>
        <Query of={purchases}>{(state) => <Purchases {...state} />}</Query>
        <Query of={upstream}>{(shown) => <Limit {...shown} />}</Query>
      </Columns>
      {upstream.data !== undefined && <Health {...upstream.data} />}
    </Page>
  );
};

const Purchases = ({ purchases, since, by, why, parts }: ActionOutput<"purchases show">) => {
  const isOn = purchases === "on";
  return (
    <Section
      title="Purchases"
      actions={
        <>
          <ShownWhileOpen isShown={isOn}>
            <SwitchOff />
          </ShownWhileOpen>
          <ShownWhileOpen isShown={!isOn}>
            <SwitchOn />
          </ShownWhileOpen>
          <PartOff />
        </>
      }
    >
      <Facts
        facts={[
          {
            name: "State",
            value: <Status tone={isOn ? "good" : "bad"}>{isOn ? "On" : "Off: new orders are refused"}</Status>,
          },
          { name: "Since", value: since === null ? "It was never switched" : <Time iso={since} /> },
          { name: "By", value: by },
          { name: "Reason", value: why },
        ]}
      />
      <UnchangedWhileOpen value={parts}>{(shown) => shown.length > 0 && <PartsOff parts={shown} />}</UnchangedWhileOpen>
    </Section>
  );
};

const PartsOff = ({ parts }: Pick<ActionOutput<"purchases show">, "parts">) => (
  <DataTable
    label="Networks and kinds that are off"
    rows={parts}
    rowKey={({ part }) => part}
    emptyText=""
    columns={[
      { header: "Off", cell: ({ part }) => <Status tone="bad">{part}</Status> },
      { header: "Since", cell: (each) => <Time iso={each.since} /> },
      { header: "By", cell: (each) => each.by },
      { header: "Reason", cell: (each) => each.why },
      { header: "Switch on", hidesHeader: true, cell: ({ part }) => <PartOn part={part} /> },
    ]}
  />
);

const SwitchOff = () => (
  <ChangeDialog
    action="purchases off"
    button="Switch purchases off"
    title="Switch purchases off"
    nameToType="purchases"
    inputOf={(_, why = "") => ({ why })}
    success={(output) => switchedText("off", output)}
  >
    <p>
      Every new order of every account is refused, identity checks included. Queued orders are neither sent nor
      refunded. Orders that are under way end as usual, and lookups are answered. Apps lose these sales until purchases
      are switched on again. The owners of all accounts see the reason.
    </p>
  </ChangeDialog>
);

const SwitchOn = () => (
  <ChangeDialog
    action="purchases on"
    button="Switch purchases on"
    title="Switch purchases on"
    inputOf={(_, why) => ({ why })}
    success={(output) => switchedText("on", output)}
  >
    <p>
      New orders are accepted again. Of the queued orders, those that have waited for too long are refunded within a
      minute, and the others are sent: resolve first what must not be sent any more.
    </p>
  </ChangeDialog>
);

const PartOff = () => {
  const { may } = usePerson();
  const { data } = useRead("catalog show", {}, { enabled: may("purchases off") });
  return (
    <ChangeDialog
      action="purchases off"
      button="Switch one network or kind off"
      buttonVariant="default"
      title="Switch one network or kind off"
      nameToType={null}
      fields={{ part: partField(data?.served?.networks) }}
      preview={({ part }) =>
        part === "" ? undefined : { sentence: `New orders of ${part} are refused.`, button: `Switch ${part} off` }
      }
      inputOf={({ part }, why = "") => ({ part, why })}
      success={({ part, changed }) =>
        changed ? `${part} is off. The whole service follows within seconds.` : `${part} was off already.`
      }
    >
      Orders that wait already are sent or refunded as before. Apps lose these sales until it is switched on again. The
      owners of all accounts see the reason.
    </ChangeDialog>
  );
};

const PartOn = ({ part }: { readonly part: string }) => (
  <ChangeDialog
    action="purchases on"
    button="Switch on"
    subject={part}
    buttonSize="xs"
    title={`Switch ${part} on`}
    inputOf={(_, why) => ({ part, why })}
    success={`${part} is on. The whole service follows within seconds.`}
  >
    New orders of it are accepted again.
  </ChangeDialog>
);

const switchedText = (wanted: "on" | "off", { changed, audit_error }: ActionOutput<"purchases off">): string => {
  if (!changed) return `Purchases were ${wanted} already.`;
  const switched = `Purchases are ${wanted}. The whole service follows within seconds.`;
  return audit_error === undefined ? switched : `${switched} The audit log could not be written (${audit_error}).`;
};

/** Functions note what all keys allow together, and not how many keys there are. */
const keysText = (keys: number): string =>
  keys < 1.5 ? "one key with the usual limit" : `about ${Math.round(keys)} keys with the usual limit`;

const Limit = ({ limit, waiting }: ActionOutput<"upstream show">) => (
  <Section title="Limit">
    <Facts
      facts={[
        { name: "Orders a minute", value: limit.per_minute },
        { name: "As much as", value: keysText(limit.per_minute / rateGroups.vtu.requestsPerMinute) },
        {
          // Whether they are accepted at all says the switch.
          name: "New orders wait",
          value:
            limit.spent_until === null ? (
              <Status tone="good">No</Status>
            ) : (
              <>
                <Status tone="running">Yes</Status> until <Time iso={limit.spent_until} />
              </>
            ),
        },
        {
          name: "Queued orders",
          value: waiting.count === 0 ? "None" : <PageLink to="/waiting">{waiting.count}</PageLink>,
        },
        { name: "The oldest waits for", value: waiting.oldest_s === null ? undefined : durationText(waiting.oldest_s) },
        { name: "Sending them takes", value: sendingText(waiting.count, waiting.sending_s) },
      ]}
    />
  </Section>
);

const Health = ({ catalog, refusals, open, recent }: ActionOutput<"upstream show">) => {
  const rows = useMemo(() => ofNetworks(recent.counts), [recent.counts]);
  return (
    <Section
      title="Health"
      description={
        <>
          What ended in this hour and the {RECENT_HOURS - 1} before; the numbers are approximate. See{" "}
          <PageLink to="/charts">Charts</PageLink> for more.
        </>
      }
    >
      <Facts
        facts={[
          {
            name: "Last sent the catalog",
            value: catalog.fetched_at === null ? "Never" : <Time iso={catalog.fetched_at} />,
          },
          ...refusals.map((refusal) => ({
            name: refusal.group === "vtu" ? "No purchase was confirmed since" : "No identity check was confirmed since",
            value: (
              <>
                <Time iso={refusal.since} /> <Status tone="bad">{refusal.reason}</Status> the last one at{" "}
                <Time iso={refusal.refused_at} />
              </>
            ),
            isWide: true as const,
          })),
          { name: "Orders without an outcome", value: open.count === 0 ? "None" : open.count },
          {
            name: "For more than 15 minutes",
            value:
              open.stuck === 0 ? (
                "None"
              ) : (
                <>
                  <Status tone="attention">{open.stuck}</Status> <PageLink to="/open">Open orders</PageLink>
                </>
              ),
          },
          { name: "The oldest since", value: open.oldest_at === null ? undefined : <Time iso={open.oldest_at} /> },
        ]}
      />
      {open.stuck > 0 && (
        <Notice tone="attention" title="The upstream has not said how some orders ended">
          Ask the upstream about them, then resolve each on the page Open orders.
        </Notice>
      )}
      <DataTable
        label="What ended, by network"
        columns={[
          { header: "Network", cell: ({ network }) => network },
          { header: "Orders", cell: ({ count }) => count, align: "end" },
          { header: "Successful", cell: ({ count, successful }) => percentText(successful, count), align: "end" },
          { header: "Failed", cell: ({ count, successful }) => count - successful, align: "end" },
          {
            header: "95 of 100 within",
            cell: ({ latency }) => withinText(latency, recent.latency_bounds_ms),
            align: "end",
          },
        ]}
        rows={rows}
        rowKey={({ network }) => network}
        emptyText="No order has ended lately."
      />
    </Section>
  );
};
