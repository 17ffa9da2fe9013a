import * as z from "#zod";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { orderLimitsSchema, orderLimitsText } from "../../../shared/contract/order-limits.ts";
import {
  allows,
  defaultPermissions,
  type Entitlements,
  permissionSchema,
} from "../../../shared/contract/permission.ts";
import { modeSchema } from "../../../shared/contract/transaction.ts";
import { HOUR_MS } from "../../../shared/contract/values/durations.ts";
import { useAccount } from "../../api/use-account.ts";
import { usePerson } from "../../api/use-person.ts";
import { useRead } from "../../api/use-read.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { ShownWhileOpen } from "../../components/change/shown-while-open.tsx";
import { KeyMode, KeyStatus } from "../../components/page/key-values.tsx";
import { Page, Row } from "../../components/page/page.tsx";
import { Query } from "../../components/page/query.tsx";
import { CsvButton } from "../../components/table/csv-button.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { Breakable } from "../../components/values/breakable.tsx";
import { isolated } from "../../components/values/isolated.ts";
import { LimitsNote, limitFields, limitsIn } from "../../components/values/order-limits.tsx";
import { Time } from "../../components/values/time.tsx";

type Key = ActionOutput<"keys list">["keys"][number];

export const KeysPage = () => {
  const account = useAccount();
  const keys = useRead("keys list", { account });
  return (
    <Page
      description="An app sends its key with each request. Live keys spend the wallet; test keys reach the sandbox only. The last request is known to the minute, and counts if it was refused."
      actions={
        <>
          <CsvButton
            name={`keys-${account}`}
            rows={keys.data && inOrder(keys.data.keys)}
            columns={[
              ...(["key_id", "name", "last_four", "mode", "status"] as const),
              ["permissions", ({ permissions }) => permissions.join(" ")],
              ["limits", ({ order_limits }) => (order_limits === undefined ? "" : orderLimitsText(order_limits))],
              ...(["created_at", "created_by", "expires_at", "last_used_at"] as const),
            ]}
          />
          {keys.data && <CreateKey account={account} entitlements={keys.data.entitlements} />}
        </>
      }
    >
      <Query of={keys}>
        {(data) => (
          <DataTable
            label="Keys"
            rows={inOrder(data.keys)}
            rowKey={({ key_id }) => key_id}
            emptyText="There is no key yet, so no app can call. Create a test key to begin with."
            columns={[
              { header: "Name", cell: (key) => <KeyName keyOf={key} />, sort: "name" },
              {
                header: "Mode and status",
                cell: (key) => (
                  <>
                    <KeyMode keyOf={key} /> <KeyStatus keyOf={key} />
                  </>
                ),
              },
              {
                header: "Permissions",
                cell: ({ permissions, order_limits }) => (
                  <>
                    {permissions.join(", ")}
                    {order_limits !== undefined && <div>Limits: {orderLimitsText(order_limits)}</div>}
                  </>
                ),
              },
              {
                header: "Last request",
                cell: ({ last_used_at }) => (last_used_at === null ? "None yet" : <Time iso={last_used_at} />),
                sort: "last_used_at",
              },
              {
                header: "Created",
                cell: ({ created_at, created_by }) => (
                  <>
                    <Time iso={created_at} />
                    {created_by !== undefined && (
                      <div>
                        by <Breakable text={created_by} />
                      </div>
                    )}
                  </>
                ),
                sort: "created_at",
              },
              {
                header: "Changes",
                hidesHeader: true,
                cell: (key) => <KeyChanges account={account} keyOf={key} />,
              },
            ]}
          />
        )}
      </Query>
    </Page>
  );
};

/** Active keys first, and the newest first. */
const inOrder = (keys: readonly Key[]): readonly Key[] =>
  keys.toSorted(
    (one, other) =>
      Number(other.status === "active") - Number(one.status === "active") ||
      (one.created_at < other.created_at ? 1 : -1),
  );

/** The end of the key is enough to find it in an app's settings. */
const KeyName = ({ keyOf: { key_id, name, last_four, mode } }: { readonly keyOf: Key }) => (
  <>
    {name}
    {last_four !== undefined && (
      <div>
        <code>
          {mode}_…{last_four}
        </code>
      </div>
    )}
    <div>
      <code>{key_id}</code>
    </div>
  </>
);

const descriptions = {
  vtu: "Buy airtime and data",
  identity: "Verify a NIN or BVN, as far as the account is entitled to it",
  "identity:retrieve": "Find a person by phone number; only operators give it",
  read: "Read the wallet and the transactions",
} as const;

const ifUnknown = "If the list has a key that nobody has, revoke it: it was created, and cannot be shown again.";

type CreateKeyProps = { readonly account: string; readonly entitlements: Entitlements };

const CreateKey = ({ account, entitlements }: CreateKeyProps) => {
  const isOperator = usePerson().roles.includes("operator");
  const options = permissionSchema.options.filter(
    (value) => allows(entitlements, value) && (isOperator || value !== "identity:retrieve"),
  );
  return (
    <ChangeDialog
      action="keys create"
      button="Create key"
      title="Create a key"
      fields={{
        name: {
          kind: "text",
          label: "Name (optional)",
          description: "What your team calls it, such as the machine that has it.",
          isOptional: true,
        },
        mode: {
          kind: "choice",
          label: "Mode",
          options: [
            { value: "test", label: "Test: the sandbox, nothing is charged" },
            { value: "live", label: "Live: spends the wallet" },
          ],
        },
        permissions: {
          kind: "choices",
          label: "Permissions",
          options: options.map((value) => ({ value, label: value, description: descriptions[value] })),
          initial: defaultPermissions(entitlements),
        },
      }}
      inputOf={({ name, mode, permissions }, why) => ({
        account,
        ...(name.trim() !== "" && { name }),
        mode: modeSchema.parse(mode),
        permissions: z.array(permissionSchema).parse(permissions),
        why,
      })}
      success={({ name, key_id }) => `${isolated(name)} (${key_id}) was created.`}
      shownOnce={({ name, key }) => ({
        title: `The new key ${isolated(name)}`,
        label: "key",
        secret: key,
        children: <p>Requests with it are accepted only from the addresses of the whitelist.</p>,
      })}
      ifUnknown={ifUnknown}
    >
      <p>Operators decide what the account may do; its keys can do no more.</p>
    </ChangeDialog>
  );
};

type KeyProps = { readonly account: string; readonly keyOf: Key };

const KeyChanges = ({ account, keyOf }: KeyProps) => {
  const isOperator = usePerson().roles.includes("operator");
  const isActive = keyOf.status === "active";
  const isReplaceable =
    isActive && keyOf.expires_at === undefined && (isOperator || !keyOf.permissions.includes("identity:retrieve"));
  return (
    <Row>
      <ShownWhileOpen isShown={isReplaceable}>
        <ReplaceKey account={account} keyOf={keyOf} />
      </ShownWhileOpen>
      <ShownWhileOpen isShown={isActive && keyOf.mode === "live"}>
        <LimitKey account={account} keyOf={keyOf} />
      </ShownWhileOpen>
      <ShownWhileOpen isShown={isActive}>
        <RevokeKey account={account} keyOf={keyOf} />
      </ShownWhileOpen>
    </Row>
  );
};

const ReplaceKey = ({ account, keyOf: { key_id } }: KeyProps) => (
  <ChangeDialog
    action="keys rotate"
    button="Replace"
    subject={key_id}
    buttonSize="xs"
    title={`Replace ${key_id}`}
    fields={{
      overlap_ms: {
        kind: "choice",
        label: "The old key stays valid for",
        description: "Long enough to give your app the new one.",
        options: [
          { value: String(24 * HOUR_MS), label: "24 hours" },
          { value: String(7 * 24 * HOUR_MS), label: "7 days" },
          { value: String(HOUR_MS), label: "1 hour" },
          { value: "0", label: "no time: it is refused at once" },
        ],
      },
    }}
    inputOf={({ overlap_ms }, why) => ({ account, key: key_id, overlap_ms: Number(overlap_ms), why })}
    success={(output) => `The key ${output.key_id} replaces ${key_id}.`}
    shownOnce={({ key_id: newId, key, which_ends_at }) => ({
      title: `The new key ${newId}`,
      label: "key",
      secret: key,
      children: (
        <p>
          The old key is valid until <Time iso={which_ends_at} />.
        </p>
      ),
    })}
    ifUnknown={ifUnknown}
  >
    <p>The new key has the same name, mode, permissions and limits. Its use of the limits begins at 0.</p>
  </ChangeDialog>
);

const LimitKey = ({ account, keyOf: { key_id, order_limits = {} } }: KeyProps) => (
  <ChangeDialog
    action="keys limits"
    button="Limit"
    subject={key_id}
    buttonSize="xs"
    title={`Change the limits of ${key_id}`}
    fields={{ ...limitFields(order_limits), before: { kind: "seen", initial: JSON.stringify(order_limits) } }}
    inputOf={({ before, ...values }, why) => ({
      ...{ account, key: key_id, limits: limitsIn(values), why },
      before: orderLimitsSchema.parse(JSON.parse(before)),
    })}
    success={`The limits of ${key_id} were changed.`}
  >
    <p>Orders with this key beyond a limit are refused (422), whatever the account may order.</p>
    <LimitsNote />
  </ChangeDialog>
);

const RevokeKey = ({ account, keyOf: { key_id } }: KeyProps) => (
  <ChangeDialog
    action="keys revoke"
    button="Revoke"
    subject={key_id}
    buttonSize="xs"
    title={`Revoke ${key_id}`}
    nameToType={key_id}
    inputOf={(_, why) => ({ account, key: key_id, why })}
    success={`The key ${key_id} was revoked.`}
  >
    <p>From now on requests with this key are refused (401).</p>
  </ChangeDialog>
);
