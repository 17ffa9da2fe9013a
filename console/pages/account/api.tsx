import { Anchor } from "@mantine/core";
import { useState } from "react";
import { callsOf } from "../../../shared/contract/openapi/openapi-samples.ts";
import { permissionText } from "../../../shared/contract/permission.ts";
import type { Route } from "../../../shared/contract/route.ts";
import { routes } from "../../../shared/contract/routes.ts";
import { useAccount } from "../../api/use-account.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { Facts } from "../../components/page/facts.tsx";
import { Notice } from "../../components/page/notice.tsx";
import { Page, Section } from "../../components/page/page.tsx";
import { accountPath, PageLink } from "../../components/page/page-link.tsx";
import { CopyText } from "../../components/values/copy-text.tsx";
import { isolated } from "../../components/values/isolated.ts";

/** The console and the interface for apps have one origin. */
const baseUrl = (): string => `${window.location.origin}/v1`;

export const ApiPage = () => {
  const account = useAccount();
  // In the state of this page alone: it is gone when the person leaves it.
  const [testKey, setTestKey] = useState<string>();
  return (
    <Page
      description="How your app calls the service, with curl and with the TypeScript client."
      actions={testKey === undefined && <CreateTestKey account={account} onCreated={setTestKey} />}
    >
      <Section title="Begin">
        <Facts
          facts={[
            { name: "Base URL", value: <code>{baseUrl()}</code> },
            {
              name: "Full documentation",
              value: (
                <Anchor href="/v1/docs" target="_blank" rel="noreferrer">
                  Fields, errors and limits (opens in a new tab)
                </Anchor>
              ),
            },
            {
              name: "For generators",
              value: (
                <Anchor href="/v1/openapi.json" target="_blank" rel="noreferrer">
                  OpenAPI document (opens in a new tab)
                </Anchor>
              ),
            },
          ]}
        />
        {testKey === undefined ? (
          <p>
            Keys are shown only when they are made, so the examples have <code>$API_KEY</code> in place of one. Create a
            test key to have it filled in; test keys charge nothing. Requests are accepted only from the{" "}
            <PageLink to={accountPath(account, "whitelist")}>whitelist</PageLink>.
          </p>
        ) : (
          <Notice tone="attention" title="The examples have your new test key">
            It is shown only until you leave this page. Copy it if you want to keep it, or{" "}
            <PageLink to={accountPath(account, "keys")}>revoke it</PageLink> afterwards.
          </Notice>
        )}
        {testKey !== undefined && <CopyText text={testKey} label="test key" />}
        <CopyText label="client set-up" text={clientSetUp(testKey)} />
      </Section>
      {Object.entries(routes).map(([name, route]) => (
        <Operation key={name} route={route} testKey={testKey} />
      ))}
    </Page>
  );
};

const clientSetUp = (testKey: string | undefined): string =>
  [
    'import { AirtimeClient } from "@airtime-service/client";',
    "",
    "const client = new AirtimeClient({",
    `  baseUrl: ${JSON.stringify(baseUrl())},`,
    `  apiKey: ${testKey === undefined ? 'process.env.API_KEY ?? ""' : JSON.stringify(testKey)},`,
    "});",
  ].join("\n");

type OperationProps = { readonly route: Route; readonly testKey: string | undefined };

/** One operation with its example as calls; nothing for what no app calls. */
const Operation = ({ route, testKey }: OperationProps) => {
  const calls = callsOf(route);
  if (calls === undefined) return null;
  return (
    <Section
      title={route.summary}
      description={
        <>
          <code>
            {route.method} {route.path}
          </code>
          {route.permissions !== undefined && <>, permission {permissionText(route.permissions)}</>}
        </>
      }
    >
      <CopyText
        label={`${route.summary} with curl`}
        text={calls.curl.replace("$BASE_URL", baseUrl()).replace("$API_KEY", testKey ?? "$API_KEY")}
      />
      <CopyText label={`${route.summary} with the client`} text={calls.client} />
    </Section>
  );
};

type CreateTestKeyProps = { readonly account: string; readonly onCreated: (key: string) => void };

const CreateTestKey = ({ account, onCreated }: CreateTestKeyProps) => (
  <ChangeDialog
    action="keys create"
    button="Create test key"
    title="Create a test key"
    inputOf={(_, why) => ({ account, mode: "test", why })}
    success="The test key was created."
    onDone={({ key }) => onCreated(key)}
    shownOnce={({ name, key }, isLeft) =>
      isLeft ? { title: `The new key ${isolated(name)}`, label: "test key", secret: key } : undefined
    }
    ifUnknown="If the list of keys has a new one, revoke it: nobody has seen it."
  >
    <p>It reaches the sandbox only and charges nothing. It is filled into the examples on this page.</p>
  </ChangeDialog>
);
