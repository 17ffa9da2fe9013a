import { Button } from "@mantine/core";
import { useState } from "react";
import { useSearchParams } from "wouter";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { useAccount } from "../../api/use-account.ts";
import { useRead } from "../../api/use-read.ts";
import { reasonText } from "../../components/attempt-outcome.ts";
import { Facts } from "../../components/facts.tsx";
import { Page, Section } from "../../components/page.tsx";
import { Query } from "../../components/query.tsx";
import { Status } from "../../components/status.tsx";
import { Deliveries } from "./deliveries.tsx";
import { Attempts } from "./delivery-attempts.tsx";
import { EndpointSection, requeuedText } from "./webhook-endpoint.tsx";

/** The status of the endpoint changes with its deliveries. */
const REFRESH_MS = 10_000;
/** Those of one order take less to read, and a person waits for them after a replay. */
const ATTEMPTS_REFRESH_MS = 3_000;

type TestAnswer = ActionOutput<"webhook test">;

export const WebhookPage = () => {
  const account = useAccount();
  const endpoint = useRead("webhook show", { account }, { everyMs: REFRESH_MS });
  const [answer, setAnswer] = useState<TestAnswer>();
  const [search, setSearch] = useSearchParams();
  const reference = search.get("reference");
  const isEndpointDown = endpoint.data?.down === true;
  const show = (shown: string | undefined) => setSearch(shown === undefined ? {} : { reference: shown });
  return (
    <Page
      title="Webhook"
      description="Your app's endpoint, which the service calls when an order becomes final. Each call is signed."
    >
      <Query of={endpoint}>{(data) => <EndpointSection endpoint={data} onTest={setAnswer} />}</Query>
      {answer !== undefined && answer.url === endpoint.data?.url && (
        <TestResult answer={answer} onClose={() => setAnswer(undefined)} />
      )}
      {reference !== null && (
        <Attempts
          account={account}
          isEndpointDown={isEndpointDown}
          reference={reference}
          everyMs={ATTEMPTS_REFRESH_MS}
          onClose={() => show(undefined)}
        />
      )}
      <Deliveries account={account} isEndpointDown={isEndpointDown} onShow={show} />
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
