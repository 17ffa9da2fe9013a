import { TextInput } from "@mantine/core";
import { type SubmitEvent, useEffect, useRef, useState } from "react";
import { phoneNumberOf } from "../../shared/contract/phone-spelling.ts";
import { ActionError } from "../api/action-error.ts";
import { callAction } from "../api/call-action.ts";
import { BusyButton } from "./busy-button.tsx";
import { Row } from "./page.tsx";
import { Failure } from "./query.tsx";

type FindTransactionProps = {
  readonly account: string;
  readonly label: string;
  readonly description?: string;
  readonly button: string;
  /** The reference of what needs no search; undefined for all else. */
  readonly referenceOf?: (typed: string) => string | undefined;
  /** Hears our own reference. */
  readonly onFound: (reference: string) => void;
};

/** Addresses, titles and the history must not have a phone number, nor the addresses of requests. */
const refusedAsPhoneNumber = (typed: string): ActionError | undefined =>
  phoneNumberOf(typed) === undefined
    ? undefined
    : new ActionError("Search for a phone number in the field at the top of the page.", { status: 404 });

/** Finds a transaction of the account by any of its references. Nothing but the reference of what was found is kept. */
export const FindTransaction = (props: FindTransactionProps) => {
  const { account, label, description, button, referenceOf, onFound } = props;
  const [text, setText] = useState("");
  const [isSearching, setIsSearching] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const leaving = useRef(new AbortController());
  useEffect(() => {
    const left = new AbortController();
    leaving.current = left;
    return () => left.abort();
  }, []);
  const find = async (typed: string) => {
    const { signal } = leaving.current;
    setFailure(undefined);
    setIsSearching(true);
    try {
      const reference =
        referenceOf?.(typed) ??
        (await callAction("transactions show", { account, reference: typed }, { signal })).reference;
      // An answer that comes later would lead away from the page that is shown then.
      if (!signal.aborted) onFound(reference);
    } catch (error) {
      setFailure(error);
    } finally {
      setIsSearching(false);
    }
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const refusal = refusedAsPhoneNumber(text);
    if (refusal !== undefined) setFailure(refusal);
    else if (text.trim() !== "") void find(text.trim());
  };
  return (
    <form onSubmit={submit}>
      <Row>
        <TextInput
          label={label}
          {...(description !== undefined && { description })}
          autoComplete="off"
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        <BusyButton type="submit" variant="default" isBusy={isSearching}>
          {button}
        </BusyButton>
      </Row>
      {failure !== undefined && <Failure error={failure} />}
    </form>
  );
};
