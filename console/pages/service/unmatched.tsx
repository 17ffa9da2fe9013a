import { useSearchParams } from "wouter";
import * as z from "#zod";
import { eventReasonTexts } from "../../../shared/contract/event-reasons.ts";
import { nairaDecimals } from "../../../shared/contract/values/money.ts";
import { useFilters } from "../../api/use-filters.ts";
import { useRead } from "../../api/use-read.ts";
import { Page, Row } from "../../components/page/page.tsx";
import { PageLink } from "../../components/page/page-link.tsx";
import { Query } from "../../components/page/query.tsx";
import { CsvButton } from "../../components/table/csv-button.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { FilterSelect } from "../../components/table/filter-select.tsx";
import { Time } from "../../components/values/time.tsx";
import {
  amountText,
  EventState,
  Reported,
  reportedTypeText,
  type UpstreamEvent,
} from "../../components/values/upstream-event-values.tsx";
import { EventComparison } from "./event-comparison.tsx";

/** As often as the navigation counts them. */
const READ_EVERY_MS = 30_000;

const filterFields = z.object({
  state: z.catch(z.enum(["open", "matched", "discarded", "all"]), "open"),
  event: z.optional(z.string()),
});

export const UnmatchedPage = () => {
  const [{ state, event: shown }, choose] = useFilters(filterFields);
  const [search] = useSearchParams();
  const pathOf = (event: string): string => {
    const shownWith = new URLSearchParams(search);
    shownWith.set("event", event);
    return `/unmatched?${shownWith}`;
  };
  const events = useRead("events list", { state }, { everyMs: READ_EVERY_MS });
  return (
    <Page
      description="Reports of the upstream that could not be applied. Each needs a decision: which order it is about, or none."
      actions={
        <CsvButton
          name={`events-${state}`}
          rows={events.data?.events}
          columns={[
            "event",
            "at",
            "state",
            "reason",
            "upstream_reference",
            "says",
            "type",
            ["amount", ({ amount }) => (amount === null ? "" : nairaDecimals(amount))],
            "phone_number",
            "transaction",
          ]}
        />
      }
    >
      {shown !== undefined && <EventComparison event={shown} onClose={() => choose({ event: undefined })} />}
      <Row>
        <FilterSelect
          label="Show"
          value={state}
          data={[
            { value: "open", label: "Waiting for a decision" },
            { value: "matched", label: "Matched" },
            { value: "discarded", label: "Discarded" },
            { value: "all", label: "All" },
          ]}
          onChoose={(state) => choose({ state, event: undefined })}
        />
      </Row>
      <Query of={events}>
        {(data) => (
          <DataTable
            label="Events"
            rows={data.events}
            rowKey={({ event }) => event}
            emptyText={
              state === "open"
                ? "No event waits for a decision."
                : "None is among the latest 500 events. Choose another state to see others."
            }
            columns={[
              {
                header: "Upstream reference",
                cell: ({ event, upstream_reference }) => (
                  <PageLink to={pathOf(event)}>{upstream_reference ?? event}</PageLink>
                ),
              },
              { header: "Reports", cell: (event) => <Reported event={event} /> },
              { header: "Why it is here", cell: ({ reason }) => eventReasonTexts[reason] },
              { header: "Type", cell: reportedTypeText },
              { header: "Amount", align: "end", cell: ({ amount }) => amountText(amount) },
              { header: "Phone number", cell: (event) => event.phone_number ?? "–" },
              { header: "Received", cell: ({ at }) => <Time iso={at} /> },
              ...(state === "all"
                ? [{ header: "State", cell: (event: UpstreamEvent) => <EventState event={event} /> }]
                : []),
            ]}
          />
        )}
      </Query>
    </Page>
  );
};
