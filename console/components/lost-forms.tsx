import { Button } from "@mantine/core";
import { useIsFetching } from "@tanstack/react-query";
import { useEffect } from "react";
import { forgetLostForms, type KeptForm, useLostForms } from "../sign-in/drafts.ts";
import { Notice } from "./notice.tsx";

/** Says which forms were kept while the person signed in again and have no place on the page any more, once it is read. */
export const LostForms = () => {
  const lost = useLostForms();
  const isRead = useIsFetching() === 0;
  // As an open form, it ends with its page.
  useEffect(() => forgetLostForms, []);
  return isRead && [...lost].map(([name, form]) => <LostForm key={name} form={form} />);
};

const LostForm = ({ form: { title, values, isInDoubt } }: { readonly form: KeptForm }) => {
  const typed = Object.values(values).filter((value) => typeof value === "string" && value.trim() !== "");
  return (
    <Notice
      tone="attention"
      title={`“${title}” is not on this page any more`}
      action={
        <Button variant="default" size="xs" onClick={forgetLostForms}>
          Close
        </Button>
      }
    >
      {isInDoubt
        ? "It is not known whether the change was made: no answer arrived. The audit log has it if it was."
        : "The form was open when you signed in again, and was not sent. What it was about has changed since."}
      {typed.length > 0 && ` You had typed: ${typed.join("; ")}`}
    </Notice>
  );
};
