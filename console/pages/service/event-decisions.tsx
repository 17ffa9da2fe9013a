import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { isSettledByTwo } from "../../../shared/contract/settled-by-two.ts";
import { moneyText } from "../../../shared/contract/values/money.ts";
import type { FourEyes } from "../../api/use-person.ts";
import { ChangeDialog } from "../../components/change/change-dialog.tsx";
import { Notice } from "../../components/page/notice.tsx";
import type { UpstreamEvent } from "../../components/values/upstream-event-values.tsx";

type Candidate = ActionOutput<"events candidates">["candidates"][number];

const effectOf = ({ says }: UpstreamEvent): string =>
  says === "failed" ? "as failed, which refunds it" : "as delivered";

export const Match = ({ event, candidate }: { readonly event: UpstreamEvent; readonly candidate: Candidate }) => {
  const { reference, mode, sending, differences, status, amount } = candidate;
  if (event.state !== "open") return null;
  if (status !== "processing") return `It was settled as ${status}, which is final`;
  const common = {
    action: "events match",
    button: "Match",
    subject: reference,
    title: `Match the event to ${reference}`,
    nameToType: reference,
    success: `${reference} was settled as the event says.`,
    needsApproval: (_: unknown, { resolve_above }: FourEyes) => isSettledByTwo({ mode, naira: amount }, resolve_above),
    preview: () =>
      event.says === "failed"
        ? { sentence: `${moneyText(amount)} will be refunded.`, button: `Match and refund ${moneyText(amount)}` }
        : undefined,
  } as const;
  const effect = `The order is settled ${effectOf(event)}, and its account is sent the webhook.`;
  if (differences.length === 0) {
    return (
      <ChangeDialog {...common} inputOf={(_, why = "") => ({ event: event.event, reference, sending, why })}>
        {effect}
      </ChangeDialog>
    );
  }
  return (
    <ChangeDialog
      {...common}
      fields={{ accepts_differences: acceptsDifferences }}
      inputOf={({ accepts_differences }, why = "") => ({
        ...{ event: event.event, reference, sending, accepts_differences, why },
      })}
    >
      <Notice tone="attention" title={`They differ in ${differences.map(({ field }) => field).join(" and ")}`}>
        {differences
          .map((one) => `${one.field}: ${one.event} in the event, ${one.transaction} in the order`)
          .join("; ")}
        .
      </Notice>
      <p>{effect}</p>
    </ChangeDialog>
  );
};

const acceptsDifferences = { kind: "check", label: "Match them although they differ" } as const;

/** For an order that is not among the candidates. */
export const MatchOther = ({ event }: { readonly event: UpstreamEvent }) => (
  <ChangeDialog
    action="events match"
    button="Match another order"
    buttonVariant="default"
    title="Match the event to another order"
    nameToType={event.event}
    fields={{
      reference: { kind: "text", label: "Reference of the order" },
      accepts_differences: acceptsDifferences,
    }}
    inputOf={({ reference, accepts_differences }, why = "") => ({
      event: event.event,
      reference: reference.trim(),
      accepts_differences,
      why,
    })}
    needsApproval={() => "perhaps"}
    success={({ reference }) => `${reference} was settled as the event says.`}
  >
    The order is settled {effectOf(event)}, and its account is sent the webhook.
  </ChangeDialog>
);

export const Discard = ({ event }: { readonly event: UpstreamEvent }) => (
  <ChangeDialog
    action="events discard"
    button="Discard"
    subject={event.upstream_reference ?? event.event}
    title="Discard the event"
    nameToType={event.event}
    inputOf={(_, why = "") => ({ event: event.event, why })}
    success="The event was discarded."
  >
    The event is closed without an effect on any order.
  </ChangeDialog>
);
