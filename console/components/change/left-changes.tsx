import { Button } from "@mantine/core";
import { Notice } from "../page/notice.tsx";
import { forgetLeftChange, type LeftChange, useLeftChanges } from "./sent-change.ts";

const texts = {
  awaited: { tone: "attention", title: "is being sent", text: "No answer has arrived yet. Keep this page open." },
  made: { tone: "good", title: "was done", text: "The service answered after the form was gone." },
  proposed: { tone: "good", title: "was proposed", text: "Another person approves it." },
  refused: { tone: "bad", title: "was refused", text: "Nothing was changed." },
  unknown: {
    tone: "attention",
    title: "may have been done",
    text: "No answer arrived. Check the page before you retry.",
  },
  interrupted: {
    tone: "attention",
    title: "may not be finished",
    text: "One of its requests failed. If its page still offers it, do it again: it continues where it was.",
  },
} as const;

const SECRET =
  " The key or signing secret that it made was not shown: make another, and revoke the one that nobody has.";

/** Says how changes ended whose form is gone. Without names and amounts: the person may be signed out. */
export const LeftChanges = () => useLeftChanges().map((change) => <LeftChangeNotice key={change.id} change={change} />);

const LeftChangeNotice = ({ change }: { readonly change: LeftChange }) => {
  const { tone, title, text } = texts[change.outcome ?? "awaited"];
  return (
    <Notice
      tone={tone}
      title={`“${change.title}” ${title}`}
      action={
        change.outcome !== undefined && (
          <Button variant="default" size="xs" onClick={() => forgetLeftChange(change)}>
            Close
          </Button>
        )
      }
    >
      {text}
      {change.makesSecret && change.outcome === "made" && SECRET}
    </Notice>
  );
};
