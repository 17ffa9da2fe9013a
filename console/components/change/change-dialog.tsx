import { Button } from "@mantine/core";
import { type ReactNode, type SubmitEvent, useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import * as z from "#zod";
import { type Action, needsReason } from "../../../shared/contract/actions/action.ts";
import { type ActionOutput, actions } from "../../../shared/contract/actions/actions.ts";
import type { FieldErrors } from "../../../shared/contract/errors.ts";
import { ActionError, sentenceOf } from "../../api/action-error.ts";
import { ProposedChange, type SentInput } from "../../api/call-action.ts";
import { useOptionalAccount } from "../../api/use-account.ts";
import { type ChangeName, useChange } from "../../api/use-change.ts";
import { type FourEyes, usePerson } from "../../api/use-person.ts";
import { useRead } from "../../api/use-read.ts";
import { type Draft, forgetDraft, keepDraft, restoredDraft } from "../../sign-in/drafts.ts";
import { announce } from "../page/announce.tsx";
import { BusyButton } from "../page/busy-button.tsx";
import { Notice } from "../page/notice.tsx";
import { useHeldRow } from "../table/held-row.ts";
import type { Preview } from "../values/amount.ts";
import { ApprovalNotice, type NeedsApproval, proposingText } from "./approval-notice.tsx";
import { Dialog, DialogButtons, DialogText } from "./dialog.tsx";
import { ErrorSummary } from "./error-summary.tsx";
import {
  draftOf,
  type Field,
  type Fields,
  type FieldValues,
  FormFields,
  fieldId,
  hasValues,
  initialValues,
  isRequired,
  isShown,
  missingChoices,
} from "./form-fields.tsx";
import { type Outcome, useFollowedChanges } from "./sent-change.ts";
import { type ShownOnce, useShowOnce } from "./shown-once-dialog.tsx";

export type ChangeDialogProps<Name extends ChangeName, Of extends Fields> = {
  readonly action: Name;
  /** The text of the button that opens the dialog. Persons who may not do the action do not see it. */
  readonly button: string;
  /** Ends the button's name for screen readers, where several buttons have the same text: the name of the row. */
  readonly subject?: string;
  /** By default a small button, or that of a change for which a name is typed, is not the main one. */
  readonly buttonVariant?: "filled" | "default" | "subtle";
  readonly buttonSize?: "xs";
  /** Without names of people or accounts, and amounts: after a sign-out it still says which change was sent. */
  readonly title: string;
  /** What the change does, above the fields. */
  readonly children?: ReactNode;
  readonly fields?: Of;
  /** The account, if it is not the one of the path. */
  readonly account?: string;
  /** The input of the action. `why` is undefined if the person gave no reason. */
  readonly inputOf: (values: FieldValues<Of>, why: string | undefined) => SentInput<Name>;
  /** What the change will do with these values, and the balance if it is known; undefined while they are incomplete. */
  readonly preview?: (values: FieldValues<Of>, balance: number | undefined) => Preview | undefined;
  /** The account whose balance `preview` gets, in NGN: as it is while the dialog is open. */
  readonly balanceOf?: string;
  /** Whether another person has to approve it, in a stage with `fourEyes`; by default always, if it can be proposed. */
  readonly needsApproval?: (values: FieldValues<Of>, fourEyes: FourEyes) => NeedsApproval;
  /** What is said when it succeeded: a sentence. */
  readonly success: string | ((output: ActionOutput<Name>) => string);
  /** Shows a secret of the answer, once; undefined if the answer has none, or the page that is not left shows it. */
  readonly shownOnce?: (output: ActionOutput<Name>, isLeft: boolean) => ShownOnce | undefined;
  /** Called after success, for example to show what the answer says. */
  readonly onDone?: (output: ActionOutput<Name>) => void;
  /** The page to show after success, unless the person has left this one since. */
  readonly leadsTo?: (output: ActionOutput<Name>) => string;
  /** Called once the change is proposed. */
  readonly onProposed?: () => void;
  /** What to do if no answer came, so that it is not known whether the change was made. */
  readonly ifUnknown?: string;
  /** The text that the person has to type; null if the page shows nothing else, or the person chooses it in the dialog. */
  readonly nameToType?: string | null;
  /** The field of a part of the input; undefined: the one that is called like the part, or like what that belongs to. */
  readonly fieldOf?: (path: readonly PropertyKey[], values: FieldValues<Of>) => (keyof Of & string) | undefined;
};

/** Of an action that is irreversible or to confirm, the compiler asks for the text to type, and of no other. */
type Confirmation<Name extends ChangeName> = (typeof actions)[Name] extends
  | { readonly irreversible: true }
  | { readonly confirm: true }
  ? { readonly nameToType: string | null }
  : { readonly nameToType?: never };

const BALANCE_EVERY_MS = 30_000;

const actionOf = (name: ChangeName): Action => actions[name];

/** A button and the dialog that it opens: a form that sends a change. Its fields outlast signing in again. */
export const ChangeDialog = <Name extends ChangeName, const Of extends Fields = Record<never, never>>(
  props: ChangeDialogProps<Name, Of> & Confirmation<Name>,
) => {
  const { action, button, subject, account, title, shownOnce } = props;
  const nameToType = props.nameToType ?? undefined;
  const pathAccount = useOptionalAccount();
  const { may } = usePerson();
  const actsOn = account ?? pathAccount;
  // A page may have two dialogs of one action, and a table one in each row.
  const form = [action, actsOn, button, subject ?? nameToType].filter((part) => part !== undefined).join(" ");
  const [isOpen, setIsOpen] = useState(() => restoredDraft(form) !== undefined);
  const sending = useChange(action);
  const opener = useRef<HTMLButtonElement>(null);
  const showOnce = useShowOnce();
  const [, navigate] = useLocation();
  const isLeft = useRef(false);
  const [isWrong, setIsWrong] = useState(false);

  useHeldRow(isOpen);
  useEffect(() => {
    isLeft.current = false;
    return () => {
      isLeft.current = true;
    };
  }, []);
  // A form that was left with its page does not open by itself when the person comes back.
  useEffect(() => () => forgetDraft(form), [form]);

  if (!may(action, actsOn)) return null;
  const close = () => {
    forgetDraft(form);
    setIsOpen(false);
  };
  const onDone = (output: ActionOutput<Name>) => {
    close();
    announce(typeof props.success === "string" ? props.success : props.success(output));
    const secret = shownOnce?.(output, isLeft.current);
    if (secret !== undefined) showOnce(secret, opener.current);
    props.onDone?.(output);
    if (props.leadsTo !== undefined && !isLeft.current) navigate(props.leadsTo(output));
  };
  const onProposed = (message: string) => {
    close();
    announce(message);
    props.onProposed?.();
  };
  const isSecondary = nameToType !== undefined || props.buttonSize === "xs";
  return (
    <>
      <Button
        ref={opener}
        variant={props.buttonVariant ?? (isSecondary ? "default" : "filled")}
        size={props.buttonSize ?? "sm"}
        aria-haspopup="dialog"
        data-action={action}
        onClick={() => setIsOpen(true)}
      >
        {button}
        {subject !== undefined && <span className="visually-hidden"> {subject}</span>}
      </Button>
      {/* A form that was closed could not say that its change was refused, or that its answer was lost. */}
      <Dialog
        title={isWrong ? `Error: ${title}` : title}
        isOpen={isOpen}
        onClose={close}
        closesOnEscape={!sending.isPending}
      >
        <ChangeForm {...{ ...props, form, sending, onDone, onProposed }} onCancel={close} onWrong={setIsWrong} />
      </Dialog>
    </>
  );
};

type ChangeFormProps<Name extends ChangeName, Of extends Fields> = Omit<ChangeDialogProps<Name, Of>, "onProposed"> & {
  /** Names its draft. */
  readonly form: string;
  readonly sending: ReturnType<typeof useChange<Name>>;
  readonly onDone: (output: ActionOutput<Name>) => void;
  /** Another person has to approve it. */
  readonly onProposed: (message: string) => void;
  readonly onCancel: () => void;
  /** Whether a field has an error. */
  readonly onWrong: (isWrong: boolean) => void;
};

const reasonField = (isRequired: boolean): Field => ({
  ...{ kind: "longText", description: "Recorded in the audit log." },
  ...(isRequired ? { label: "Reason" } : { label: "Reason (optional)", isOptional: true }),
});

const confirmationField = (text: string, isIrreversible: boolean | undefined): Field => ({
  ...{ kind: "text", label: `Type ${text} to confirm` },
  ...(isIrreversible && { description: "This cannot be undone." }),
});

const ChangeForm = <Name extends ChangeName, Of extends Fields>(props: ChangeFormProps<Name, Of>) => {
  const { action, button, title, children, form, sending, inputOf, onDone, onProposed, onCancel, onWrong } = props;
  const { ifUnknown, shownOnce, balanceOf } = props;
  const nameToType = props.nameToType ?? undefined;
  const definition = actionOf(action);
  const { input: schema } = definition;
  const { why: whyField } = schema.shape;
  const hasWhy = whyField !== undefined;
  const needsWhy = hasWhy && (needsReason(definition) || !z.safeParse(whyField, undefined).success);
  const fields: Fields = {
    ...props.fields,
    ...(hasWhy && { why: reasonField(needsWhy) }),
    ...(nameToType !== undefined && { typed: confirmationField(nameToType, definition.irreversible) }),
  };
  const { four_eyes: stageFourEyes } = usePerson();
  const fourEyes = definition.fourEyes === true ? stageFourEyes : null;
  const wallet = useRead(
    "wallet show",
    { account: balanceOf ?? "" },
    { enabled: balanceOf !== undefined, everyMs: BALANCE_EVERY_MS },
  );

  const [kept] = useState(() => restoredDraft(form));
  const [values, setValues] = useState(() => initialValues(fields, kept?.values));
  const [errors, setErrors] = useState<FieldErrors>({});
  const [failure, setFailure] = useState<unknown>();
  /** An earlier attempt had no answer, and may be why a later one is refused. */
  const [isInDoubt, setIsInDoubt] = useState(kept?.isInDoubt === true);
  const [failedAttempts, setFailedAttempts] = useState(0);
  const waitS = useCountdown(failure instanceof ActionError ? failure.details.retryAfterS : undefined, failure);

  // A confirmation is typed again.
  const { typed: _, ...drafted } = draftOf(fields, values);
  const draft = { values: drafted, isInDoubt: isInDoubt || sending.isPending };
  const current = useRef(draft);
  useLayoutEffect(() => {
    current.current = draft;
  });
  useEffect(() => keepDraft(form, () => current.current), [form]);
  const followChange = useFollowedChanges();
  const isSending = useRef(false);
  const element = useRef<HTMLFormElement>(null);
  const id = useId();
  const wrong = Object.entries(fields).flatMap(([name, field]) => {
    const error = errors[name]?.join(". ");
    return isShown(field) && error !== undefined ? [{ id: fieldId(id, name), label: field.label, error }] : [];
  });
  const isWrong = wrong.length > 0;
  useEffect(() => {
    onWrong(isWrong);
    return () => onWrong(false);
  }, [isWrong, onWrong]);
  useEffect(() => {
    // Screen readers read out the summary, or the error of the field, when it gets the focus.
    if (failedAttempts > 0)
      element.current
        ?.querySelector<HTMLElement>("[data-summary], :is(input, select, textarea)[aria-invalid=true]")
        ?.focus();
  }, [failedAttempts]);

  /** The error of a field is about the value that it had. */
  const change = (changed: typeof values) => {
    setErrors((before) =>
      Object.fromEntries(Object.entries(before).filter(([name]) => changed[name] === values[name])),
    );
    setValues(changed);
  };

  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    // A second press may come before the page has drawn that the first one is being sent.
    if (isSending.current || !hasValues<Of>(fields, values)) return;
    const { why = "", typed } = values;
    const reason = typeof why === "string" ? why.trim() : "";
    const input = inputOf(values, reason === "" ? undefined : reason);
    const fieldOf = (path: readonly PropertyKey[]) => props.fieldOf?.(path, values) ?? fieldNamed(fields, path);
    const found = { ...errorsOf(schema, input, fields, values, fieldOf), ...missingChoices(fields, values) };
    if (needsWhy && reason === "") found.why = ["A reason is required"];
    if (nameToType !== undefined && typed !== nameToType) found.typed = [`Type exactly ${nameToType}`];
    setErrors(found);
    setFailure(undefined);
    const other = Object.keys(found).find((name) => !hasField(fields, name));
    if (other !== undefined) setFailure(new ActionError(`${other}: ${found[other]?.join(". ")}`, { status: 422 }));
    if (Object.keys(found).length > 0) return setFailedAttempts((before) => before + 1);
    const change = followChange({ title, makesSecret: shownOnce !== undefined });
    isSending.current = true;
    try {
      const output = await sending.mutateAsync(input);
      change.end("made");
      // The answer may hold a secret.
      sending.reset();
      onDone(output);
    } catch (error) {
      change.end(outcomeOf(error));
      if (error instanceof ProposedChange) return onProposed(error.message);
      const refused = error instanceof ActionError ? (error.details.fields ?? {}) : {};
      setErrors(refused);
      // What is said at its field is not said twice.
      if (isInDoubt || !Object.keys(refused).some((name) => hasField(fields, name))) setFailure(error);
      setFailedAttempts((before) => before + 1);
      if (isOutcomeUnknown(error)) setIsInDoubt(true);
    } finally {
      isSending.current = false;
    }
  };

  const isWhole = hasValues<Of>(fields, values);
  const preview = isWhole ? props.preview?.(values, wallet.data?.balance) : undefined;
  const needsApproval = isWhole && fourEyes !== null && (props.needsApproval?.(values, fourEyes) ?? true);
  const buttonText = preview?.button ?? button;
  const isUnknown = isOutcomeUnknown(failure);
  const isDone = failure instanceof ActionError && failure.details.isDone === true;
  return (
    <form ref={element} onSubmit={(event) => void submit(event)} noValidate>
      {wrong.length > 1 && <ErrorSummary wrong={wrong} />}
      {kept !== undefined && (
        <Notice
          tone={kept.isInDoubt ? "attention" : "neutral"}
          title="What you had typed was kept while you signed in again"
        >
          {kept.isInDoubt
            ? `It is not known whether the change was made: no answer arrived. Check the page before you retry. ${ifUnknown ?? ""}`
            : undefined}
        </Notice>
      )}
      {children !== undefined && <DialogText>{children}</DialogText>}
      <FormFields id={id} fields={fields} values={values} onChange={change} errors={errors} />
      <div role="status">{preview !== undefined && <strong>{preview.sentence}</strong>}</div>
      {fourEyes !== null && needsApproval !== false && (
        <ApprovalNotice action={action} needsApproval={needsApproval} fourEyes={fourEyes} />
      )}
      {failure !== undefined && (
        <Notice tone={isUnknown || isDone ? "attention" : "bad"} title={failureTitle({ isUnknown, isDone, isInDoubt })}>
          {sentenceOf(failure)}
          {isUnknown && ifUnknown !== undefined && ` ${ifUnknown}`}
          {isInDoubt && !isUnknown && !isDone && " The attempt before may have made the change: check the page."}
        </Notice>
      )}
      <DialogButtons>
        <Button variant="default" disabled={sending.isPending} onClick={onCancel}>
          {isDone ? "Close" : "Cancel"}
        </Button>
        <BusyButton
          type="submit"
          isBusy={sending.isPending}
          disabled={waitS > 0 || isDone}
          {...(nameToType !== undefined && { color: "red" })}
        >
          {waitS > 0 ? `Try again in ${waitS} s` : needsApproval === true ? proposingText(buttonText) : buttonText}
        </BusyButton>
      </DialogButtons>
    </form>
  );
};

const outcomeOf = (failure: unknown): Outcome => {
  if (failure instanceof ProposedChange) return "proposed";
  if (failure instanceof ActionError && failure.details.isDone === true) return "made";
  return isOutcomeUnknown(failure) ? "unknown" : "refused";
};

const isOutcomeUnknown = (failure: unknown): boolean =>
  failure instanceof ActionError && failure.details.isOutcomeUnknown === true;

type Known = { readonly isUnknown: boolean; readonly isDone: boolean; readonly isInDoubt: boolean };

const failureTitle = ({ isUnknown, isDone, isInDoubt }: Known): string => {
  if (isUnknown) return "It is not known whether the change was made";
  if (isDone) return "The change was accepted";
  return isInDoubt ? "This attempt changed nothing" : "Nothing was changed";
};

const hasField = (fields: Fields, name: string): boolean => {
  const field = fields[name];
  return field !== undefined && isShown(field);
};

/** The field that is called like a part of the input, or like what that belongs to; without one, the input's own part. */
const fieldNamed = (fields: Fields, path: readonly PropertyKey[]): string => {
  const names = path.map(String);
  return names.findLast((each) => hasField(fields, each)) ?? names[0] ?? "";
};

/** Messages by field, as the service would give them. */
const errorsOf = (
  schema: Action["input"],
  input: unknown,
  fields: Fields,
  values: Draft,
  fieldOf: (path: readonly PropertyKey[]) => string,
): Record<string, string[]> => {
  const errors: Record<string, string[]> = {};
  for (const { path, message } of schema.safeParse(input).error?.issues ?? []) {
    const name = fieldOf(path);
    errors[name] = [...(errors[name] ?? []), message];
  }
  // About an empty field, the rule for its characters says too much, and not every rule refuses it.
  for (const [name, field] of Object.entries(fields)) {
    if (values[name] === "" && (isRequired(field) || (errors[name] !== undefined && isShown(field)))) {
      errors[name] = ["A value is required"];
    }
  }
  return errors;
};

/** Seconds that are left, by the clock: a browser runs the timers of a tab in the background less often. */
const useCountdown = (seconds: number | undefined, from: unknown): number => {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    const endsAtMs = Date.now() + (from === undefined ? 0 : (seconds ?? 0) * 1_000);
    const count = () => setLeft(Math.max(0, Math.ceil((endsAtMs - Date.now()) / 1_000)));
    count();
    const timer = setInterval(count, 1_000);
    return () => clearInterval(timer);
  }, [seconds, from]);
  return left;
};
