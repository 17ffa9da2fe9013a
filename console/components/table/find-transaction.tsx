import { TextInput } from "@mantine/core";
import { type SubmitEvent, useEffect, useRef, useState } from "react";
import { phoneNumberOf } from "../../../shared/contract/values/phone-number.ts";
import { sentenceOf } from "../../api/action-error.ts";
import { callAction } from "../../api/call-action.ts";
import { BusyButton } from "../page/busy-button.tsx";
import { Row } from "../page/page.tsx";

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

/** Finds a transaction of the account by any of its references. Nothing but the reference of what was found is kept. */
export const FindTransaction = (props: FindTransactionProps) => {
  const { account, label, description, button, referenceOf, onFound } = props;
  const [text, setText] = useState("");
  const [isSearching, setIsSearching] = useState(false);
  const [error, setError] = useState<string>();
  const field = useRef<HTMLInputElement>(null);
  const leaving = useRef(new AbortController());
  useEffect(() => {
    const left = new AbortController();
    leaving.current = left;
    return () => left.abort();
  }, []);
  const fail = (sentence: string) => {
    setError(sentence);
    field.current?.focus();
  };
  const find = async (typed: string) => {
    const { signal } = leaving.current;
    setError(undefined);
    setIsSearching(true);
    try {
      const reference =
        referenceOf?.(typed) ??
        (await callAction("transactions show", { account, reference: typed }, { signal })).reference;
      // An answer that comes later would lead away from the page that is shown then.
      if (!signal.aborted) onFound(reference);
    } catch (failure) {
      fail(sentenceOf(failure));
    } finally {
      setIsSearching(false);
    }
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    // Addresses, titles and the history must not have a phone number, nor the addresses of requests.
    if (phoneNumberOf(text) !== undefined) fail("Search for a phone number in the field at the top of the page.");
    else if (text.trim() === "") fail("A reference is required");
    else void find(text.trim());
  };
  return (
    <form onSubmit={submit}>
      <Row>
        <TextInput
          ref={field}
          label={label}
          {...(description !== undefined && { description })}
          autoComplete="off"
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          error={error}
          // The focus may be in the field before.
          errorProps={{ role: "alert" }}
        />
        <BusyButton type="submit" variant="default" isBusy={isSearching}>
          {button}
        </BusyButton>
      </Row>
    </form>
  );
};
