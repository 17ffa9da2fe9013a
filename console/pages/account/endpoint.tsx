import { Button } from "@mantine/core";
import { useState } from "react";
import { useRoute } from "wouter";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { reasonText } from "../../../shared/contract/attempt-outcome.ts";
import { useAccount } from "../../api/use-account.ts";
import { useRead } from "../../api/use-read.ts";
import { UnchangedWhileOpen } from "../../components/change/unchanged-while-open.tsx";
import { Empty } from "../../components/page/empty.tsx";
import { Facts } from "../../components/page/facts.tsx";
import { Focused } from "../../components/page/focused.tsx";
import { Page, Section } from "../../components/page/page.tsx";
import { accountPath, PageLink } from "../../components/page/page-link.tsx";
import { Query } from "../../components/page/query.tsx";
import { Status } from "../../components/values/status.tsx";
import { Deliveries } from "./deliveries.tsx";
import { ENDPOINTS_REFRESH_MS, EndpointSection, requeuedText } from "./endpoint-section.tsx";

type TestAnswer = ActionOutput<"webhook test">;

export const EndpointPage = () => {
  const account = useAccount();
  const [, params] = useRoute("/accounts/:account/webhooks/:endpoint");
  const id = params?.endpoint ?? "";
  const listed = useRead("webhook list", { account }, { everyMs: ENDPOINTS_REFRESH_MS });
  const [answer, setAnswer] = useState<TestAnswer>();
  const endpoint = listed.data?.endpoints.find((each) => each.endpoint === id);
  return (
    <Page
      title={endpoint?.name ?? `Endpoint ${id}`}
      description={<PageLink to={accountPath(account, "webhooks")}>All endpoints</PageLink>}
    >
      <Query of={listed}>
        {() => (
          <UnchangedWhileOpen value={endpoint}>
            {(shown) =>
              shown === undefined ? (
                <Empty>
                  The account has no endpoint {id}. <PageLink to={accountPath(account, "webhooks")}>Webhooks</PageLink>
                </Empty>
              ) : (
                <EndpointSection id={id} endpoint={shown} onTest={setAnswer} />
              )
            }
          </UnchangedWhileOpen>
        )}
      </Query>
      {answer !== undefined && answer.url === endpoint?.url && (
        <Focused subject={answer.webhook_id}>
          <TestResult answer={answer} onClose={() => setAnswer(undefined)} />
        </Focused>
      )}
      <Deliveries account={account} endpoints={listed.data?.endpoints} endpoint={id} />
    </Page>
  );
};

const headerFacts = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).map(([name, value]) => ({ name, value }));

const TestResult = ({ answer, onClose }: { readonly answer: TestAnswer; readonly onClose: () => void }) => (
  <Section
    title="Answer to the test event"
    actions={
      <Button variant="default" size="xs" onClick={onClose}>
        Close
      </Button>
    }
  >
    <Facts
      facts={[
        {
          name: "Result",
          value: answer.ok ? (
            <Status tone="good">The endpoint accepted it</Status>
          ) : (
            <Status tone="bad">
              {answer.reason === null ? "The endpoint refused it" : `No usable answer: ${reasonText(answer.reason)}`}
            </Status>
          ),
        },
        ...(answer.requeued === 0 ? [] : [{ name: "Webhooks that waited", value: requeuedText(answer.requeued) }]),
        { name: "HTTP status", value: answer.http_status },
        { name: "Took", value: `${answer.duration_ms} ms` },
        { name: "Webhook id", value: answer.webhook_id },
        { name: "URL", value: answer.url },
        ...headerFacts(answer.response_headers ?? {}),
      ]}
    />
  </Section>
);
