import { accountOwnersSchema } from "../../../shared/contract/actions/accounts.ts";
import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { orderLimitsSchema, raisesLimits } from "../../../shared/contract/order-limits.ts";
import {
  type Entitlement,
  type Entitlements,
  entitlementSchema,
  entitlementsSchema,
  isEntitled,
  raisesEntitlements,
} from "../../../shared/contract/permission.ts";
import { counted } from "../../../shared/contract/values/counted.ts";
import { numberFromText } from "../../../shared/contract/values/typed-number.ts";
import { useAccount } from "../../api/use-account.ts";
import { usePerson } from "../../api/use-person.ts";
import { useRead } from "../../api/use-read.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { ShownWhileOpen } from "../../components/change/shown-while-open.tsx";
import { Facts } from "../../components/page/facts.tsx";
import { Page, Section } from "../../components/page/page.tsx";
import { Query } from "../../components/page/query.tsx";
import { DataTable } from "../../components/table/data-table.tsx";
import { AccountStatus } from "../../components/values/account-status.tsx";
import type { Preview } from "../../components/values/amount.ts";
import { withThousands } from "../../components/values/number-text.ts";
import { LimitsNote, LimitsTable, limitFields, limitsIn } from "../../components/values/order-limits.tsx";
import { Time } from "../../components/values/time.tsx";

type Account = ActionOutput<"accounts show">;

export const AccountSettingsPage = () => {
  const account = useAccount();
  const shown = useRead("accounts show", { account });
  return (
    <Page>
      <Query of={shown}>
        {(data) => (
          <>
            <Access account={data} />
            <MayDo account={data} />
            <Duplicates account={data} />
            <Limits account={data} />
            <Owners account={data} />
          </>
        )}
      </Query>
    </Page>
  );
};

const Access = ({ account }: { readonly account: Account }) => {
  return (
    <Section title="Account" actions={<StatusActions account={account} />}>
      <Facts
        facts={[
          { name: "Name", value: account.name },
          { name: "Account id", value: <code>{account.account_id}</code> },
          { name: "Status", value: <AccountStatus status={account.status} /> },
          { name: "Created", value: <Time iso={account.created_at} /> },
        ]}
      />
    </Section>
  );
};

const StatusActions = ({ account }: { readonly account: Account }) => (
  <>
    <ShownWhileOpen isShown={account.status === "active"}>
      <Restrict account={account} />
    </ShownWhileOpen>
    <ShownWhileOpen isShown={account.status === "restricted"}>
      <Unrestrict account={account} />
    </ShownWhileOpen>
    <ShownWhileOpen isShown={account.status === "restricted"}>
      <Close account={account} />
    </ShownWhileOpen>
    <ShownWhileOpen isShown={account.status === "closed"}>
      <Reopen account={account} />
    </ShownWhileOpen>
  </>
);

const Close = ({ account: { account_id, name } }: { readonly account: Account }) => (
  <ChangeDialog
    action="accounts close"
    button="Close account"
    title="Close the account"
    nameToType={name}
    inputOf={(_, why) => ({ account: account_id, why })}
    success="The account is closed."
  >
    <p>
      All keys of <bdi>{name}</bdi> are revoked, its endpoints are disabled, and nothing can be booked any more. The
      balance must be 0 and unchanged for 2 minutes, and no order may be open or queued.
    </p>
  </ChangeDialog>
);

const Reopen = ({ account: { account_id, name } }: { readonly account: Account }) => (
  <ChangeDialog
    action="accounts reopen"
    button="Reopen account"
    title="Reopen the account"
    inputOf={(_, why) => ({ account: account_id, why })}
    success="The account is restricted."
  >
    <p>
      <bdi>{name}</bdi> will be restricted. Its keys stay revoked, and its endpoints disabled.
    </p>
  </ChangeDialog>
);

const Restrict = ({ account: { account_id, name } }: { readonly account: Account }) => (
  <ChangeDialog
    action="accounts restrict"
    button="Restrict account"
    title="Restrict the account"
    nameToType={name}
    inputOf={(_, why) => ({ account: account_id, why })}
    success="The account is restricted."
  >
    <p>
      Until the restriction is lifted, every request of <bdi>{name}</bdi> is refused (403). Orders that it placed before
      are completed. Requests that are refused until then stay refused.
    </p>
  </ChangeDialog>
);

const Unrestrict = ({ account: { account_id, name } }: { readonly account: Account }) => (
  <ChangeDialog
    action="accounts unrestrict"
    button="Lift restriction"
    title="Lift the restriction"
    inputOf={(_, why) => ({ account: account_id, why })}
    success="The account is active again."
  >
    <p>
      From now on requests of <bdi>{name}</bdi> are accepted again.
    </p>
  </ChangeDialog>
);

const MayDo = ({ account: { account_id, entitlements, orders_today } }: { readonly account: Account }) => (
  <Section
    title="What it may do"
    description="Its keys can do no more than this. Only operators change it."
    actions={<Entitle account={account_id} entitlements={entitlements} />}
  >
    <DataTable
      label="Entitlements"
      rows={entitlementSchema.options.filter((each) => isEntitled(entitlements, each))}
      rowKey={(each) => each}
      emptyText="Nothing: every order is refused (403)."
      columns={[
        { header: "Permission", cell: (each) => <code>{each}</code> },
        { header: "Orders", cell: (each) => orders[each] },
        { header: "Daily quota", align: "end", cell: (each) => entitlements[each] ?? "Any number" },
        { header: "Placed today", align: "end", cell: (each) => orders_today[each] ?? "Not counted" },
      ]}
    />
  </Section>
);

const orders = {
  vtu: "Airtime and data",
  identity: "Verifications, basic",
  "identity:advanced": "Verifications, advanced: the whole profile",
  "identity:retrieve": "Persons by phone number",
} as const satisfies Record<Entitlement, string>;

const CHANGE_ENTITLEMENTS = "Change what it may do";

type EntitleProps = { readonly account: string; readonly entitlements: Entitlements };

const Entitle = ({ account, entitlements }: EntitleProps) => {
  const quota = (entitlement: Entitlement) =>
    ({
      kind: "number",
      label: `${orders[entitlement]}: orders a day (optional)`,
      initial: String(entitlements[entitlement] ?? ""),
      isOptional: true,
    }) as const;
  return (
    <ChangeDialog
      action="accounts entitle"
      button={CHANGE_ENTITLEMENTS}
      buttonVariant="default"
      title="Change what the account may do"
      fields={{
        entitlements: {
          kind: "choices",
          label: "What it may order",
          initial: entitlementSchema.options.filter((each) => isEntitled(entitlements, each)),
          options: entitlementSchema.options.map((value) => ({ value, label: orders[value] })),
        },
        vtu: quota("vtu"),
        identity: quota("identity"),
        "identity:advanced": quota("identity:advanced"),
        "identity:retrieve": quota("identity:retrieve"),
        before: { kind: "seen", initial: JSON.stringify(entitlements) },
      }}
      needsApproval={(values) => raisesEntitlements(entitlements, entitlementsIn(values))}
      preview={(values) => entitlementsPreview(entitlementsIn(values))}
      inputOf={(values, why) => ({
        account,
        entitlements: entitlementsIn(values),
        before: entitlementsSchema.parse(JSON.parse(values.before)),
        why,
      })}
      success="What the account may do was changed."
    >
      <p>The change takes effect with the next request. A kind without a number may be ordered any number of times.</p>
    </ChangeDialog>
  );
};

type EntitledValues = Readonly<Record<Entitlement, string>> & { readonly entitlements: readonly string[] };

const entitlementsIn = ({ entitlements, ...quotas }: EntitledValues): Entitlements =>
  Object.fromEntries(
    entitlementSchema.options
      .filter((each) => entitlements.includes(each))
      .map((each) => [each, quotas[each].trim() === "" ? null : numberFromText(quotas[each])]),
  );

/** What the change will do; undefined while a quota is no number. */
const entitlementsPreview = (entitlements: Entitlements): Preview | undefined => {
  if (Object.values(entitlements).some(Number.isNaN)) return undefined;
  const button = CHANGE_ENTITLEMENTS;
  const allowed = entitlementSchema.options
    .filter((each) => isEntitled(entitlements, each))
    .map((each) => {
      const quota = entitlements[each] ?? null;
      return quota === null ? orders[each] : `${orders[each]} (at most ${withThousands(quota)} a day)`;
    });
  if (allowed.length === 0) return { sentence: "Every order will be refused (403).", button };
  return { sentence: `It may order: ${allowed.join("; ")}.`, button };
};

const Duplicates = ({ account: { account_id, duplicate_window_s } }: { readonly account: Account }) => (
  <Section
    title="Duplicates"
    description="Live purchases with the product, number and amount of an earlier one. Only operators change this."
    actions={<SetWindow account={account_id} windowS={duplicate_window_s} />}
  >
    <Facts
      facts={[
        {
          name: "Duplicate purchases",
          value: duplicate_window_s === undefined ? "Accepted" : `Refused for ${counted(duplicate_window_s, "second")}`,
        },
      ]}
    />
  </Section>
);

const SetWindow = ({ account, windowS = 0 }: { readonly account: string; readonly windowS: number | undefined }) => (
  <ChangeDialog
    action="accounts duplicates"
    button="Change window"
    buttonVariant="default"
    title="Change the window for duplicates"
    fields={{
      window_s: { kind: "text", label: "Seconds, 0 for off", initial: String(windowS) },
      before: { kind: "seen", initial: String(windowS) },
    }}
    inputOf={({ window_s, before }, why) => ({ account, window_s, before: Number(before), why })}
    success="The window for duplicates was changed."
  >
    <p>
      Within the window a purchase with the same product, number and amount is refused (422), unless the app confirms
      it. The change takes effect with the next request.
    </p>
  </ChangeDialog>
);

const Limits = ({ account: { account_id, order_limits = {}, usage } }: { readonly account: Account }) => (
  <Section
    title="Limits"
    description="Limits of the live orders of all keys together. Orders beyond a limit are refused (422). Only operators change limits."
    actions={
      <ChangeDialog
        action="accounts limits"
        button="Change limits"
        buttonVariant="default"
        title="Change the limits of the account"
        fields={{ ...limitFields(order_limits), before: { kind: "seen", initial: JSON.stringify(order_limits) } }}
        needsApproval={({ before: _, ...values }) => raisesLimits(order_limits, limitsIn(values))}
        inputOf={({ before, ...values }, why) => ({
          account: account_id,
          limits: limitsIn(values),
          before: orderLimitsSchema.parse(JSON.parse(before)),
          why,
        })}
        success="The limits were changed."
      >
        <LimitsNote />
      </ChangeDialog>
    }
  >
    <LimitsTable limits={order_limits} usage={usage} />
  </Section>
);

const Owners = ({ account }: { readonly account: Account }) => {
  const { may } = usePerson();
  return (
    <Section
      title="Owners"
      description={`Who sees and manages this account here.${may("accounts owners") ? "" : " Only operators change the list."}`}
      actions={<SetOwners account={account} />}
    >
      <DataTable
        label="Owners"
        rows={account.owners ?? []}
        rowKey={({ kind, value }) => `${kind}:${value}`}
        emptyText="Nobody owns this account: operators manage it. They can name its team here."
        columns={[
          { header: "Owner", cell: ({ value }) => value },
          {
            header: "Kind",
            cell: ({ kind }) =>
              kind === "email" ? "Person, by verified e-mail address" : "Group of the sign-in provider",
          },
        ]}
      />
    </Section>
  );
};

const SetOwners = ({ account: { account_id, owners = [] } }: { readonly account: Account }) => (
  <ChangeDialog
    action="accounts owners"
    button="Change owners"
    buttonVariant="default"
    title="Change the owners"
    fields={{
      owners: {
        kind: "longText",
        label: "E-mail addresses, one on each line",
        description: "They count only if the sign-in provider has verified them.",
        initial: linesOf(owners, "email"),
        isOptional: true,
      },
      groups: {
        kind: "longText",
        label: "Groups, one on each line",
        description: "Exactly as the sign-in provider names them.",
        initial: linesOf(owners, "group"),
        isOptional: true,
      },
      before: { kind: "seen", initial: JSON.stringify(owners) },
    }}
    inputOf={(values, why) => ({
      account: account_id,
      owners: [...ownersIn(values.owners, "email"), ...ownersIn(values.groups, "group")],
      before: accountOwnersSchema.parse(JSON.parse(values.before)),
      why,
    })}
    fieldOf={([part, place], { owners }) =>
      part === "owners" && Number(place) >= ownersIn(owners, "email").length ? "groups" : undefined
    }
    success="The owners were changed."
  >
    <p>A person who is no longer in the list loses access with the next request.</p>
  </ChangeDialog>
);

type Owner = NonNullable<Account["owners"]>[number];

const linesOf = (owners: readonly Owner[], kind: Owner["kind"]): string =>
  owners
    .filter((owner) => owner.kind === kind)
    .map(({ value }) => value)
    .join("\n");

const ownersIn = <Kind extends Owner["kind"]>(text: string, kind: Kind): { kind: Kind; value: string }[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((value) => ({ kind, value }));
