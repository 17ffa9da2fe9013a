import { Button } from "@mantine/core";
import { useState } from "react";
import { Icon } from "../page/icon.tsx";
import styles from "./values.module.css";

/** A text to copy: a key, a secret, a command. `label` says what is copied. */
export const CopyText = ({ text, label }: { readonly text: string; readonly label: string }) => {
  const [state, setState] = useState<"ready" | "copied" | "refused">("ready");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setState("copied");
    } catch {
      // The browser refuses without permission, or on an origin that is not secure.
      setState("refused");
    }
  };
  return (
    <div className={styles.code}>
      <pre>{text}</pre>
      <Button variant="default" leftSection={<Icon name="copy" />} onClick={() => void copy()}>
        Copy<span className="visually-hidden"> {label}</span>
      </Button>
      <span role="status" className={styles.copied}>
        {state === "copied" && "Copied"}
        {state === "refused" && "The browser does not allow it: select the text and copy it"}
      </span>
    </div>
  );
};
