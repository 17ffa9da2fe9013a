import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { CopyText } from "./copy-text.tsx";
import { Dialog, DialogButtons } from "./dialog.tsx";
import { Notice } from "./notice.tsx";

/** A secret that the service shows only once. It is in the state of the dialog alone, and gone when that closes. */
export type ShownOnce = {
  readonly title: string;
  /** What it is: `Key`, `Signing secret`. */
  readonly label: string;
  readonly secret: string;
  /** What to do with it. */
  readonly children?: ReactNode;
};

/** Shows a secret with a button that copies it. Only its button closes it, so it is not closed by accident. */
export const ShownOnceDialog = ({
  title,
  label,
  secret,
  children,
  onClose,
}: ShownOnce & { readonly onClose: () => void }) => (
  <Dialog title={title} isOpen onClose={onClose} closesOnEscape={false}>
    <Notice tone="attention" title="It is shown only now">
      Save it where your app reads its secrets. Nobody can look it up later.
    </Notice>
    <CopyText text={secret} label={label} />
    {children}
    <DialogButtons>
      <Button onClick={onClose}>I have saved it</Button>
    </DialogButtons>
  </Dialog>
);
