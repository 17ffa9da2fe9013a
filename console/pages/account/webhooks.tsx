import { ENDPOINTS_MAX } from "../../../shared/contract/webhook-events.ts";
import { useAccount } from "../../api/use-account.ts";
import { useRead } from "../../api/use-read.ts";
import { Page, Section } from "../../components/page/page.tsx";
import { accountPath, PageLink } from "../../components/page/page-link.tsx";
import { Query } from "../../components/page/query.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { Deliveries } from "./deliveries.tsx";
import { AddEndpoint, ENDPOINTS_REFRESH_MS, EndpointStatus, FailingSince } from "./endpoint-section.tsx";

export const WebhooksPage = () => {
  const account = useAccount();
  const endpoints = useRead("webhook list", { account }, { everyMs: ENDPOINTS_REFRESH_MS });
  return (
    <Page description="The app's endpoints. The service posts signed events to them.">
      <Section
        title="Endpoints"
        description={`Each gets its own copy of the events that it is for, signed with its own secret. An account has at most ${ENDPOINTS_MAX}.`}
        actions={<AddEndpoint account={account} />}
      >
        <Query of={endpoints}>
          {(data) => (
            <DataTable
              label="Endpoints"
              rows={data.endpoints}
              rowKey={({ endpoint }) => endpoint ?? ""}
              emptyText="There is no endpoint, so nothing is sent. Add the URL at which your app receives webhooks."
              columns={[
                {
                  header: "Name",
                  cell: ({ endpoint, name }) => (
                    <PageLink to={accountPath(account, "webhooks", endpoint ?? "")}>{name}</PageLink>
                  ),
                },
                { header: "URL", cell: ({ url }) => url },
                { header: "Status", cell: ({ status }) => <EndpointStatus status={status} /> },
                { header: "Failing since", cell: (endpoint) => <FailingSince endpoint={endpoint} /> },
                { header: "Events", cell: ({ events }) => events.join(", ") },
              ]}
            />
          )}
        </Query>
      </Section>
      <Deliveries account={account} endpoints={endpoints.data?.endpoints} />
    </Page>
  );
};

// Both pages are in one file of the build, which has what they share.
export { EndpointPage } from "./endpoint.tsx";
