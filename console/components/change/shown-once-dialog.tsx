import { Button } from "@mantine/core";
import { createContext, type ReactNode, useCallback, useContext, useState } from "react";
import { Notice } from "../page/notice.tsx";
import { CopyText } from "../values/copy-text.tsx";
import { Dialog, DialogButtons, DialogText } from "./dialog.tsx";

/** A secret that the service shows only once. It is in the state of its dialog alone, and gone when that closes. */
export type ShownOnce = {
  readonly title: string;
  /** What it is: `Key`, `Signing secret`. */
  readonly label: string;
  readonly secret: string;
  /** What to do with it. */
  readonly children?: ReactNode;
};

type WaitingSecret = { readonly id: string; readonly shown: ShownOnce; readonly opener: HTMLElement | null };
type ShowOnce = (shown: ShownOnce, opener: HTMLElement | null) => void;
const ShowOnceContext = createContext<ShowOnce | undefined>(undefined);

/** Shows a secret. `opener` has the focus again afterwards: the dialog that had it is closed already. */
export const useShowOnce = (): ShowOnce => {
  const showOnce = useContext(ShowOnceContext);
  if (showOnce === undefined) throw new Error("useShowOnce outside of ShownOnceDialogs");
  return showOnce;
};

/**
 * Secrets are shown above the pages: the page may have been left before the answer that has one. One that comes while
 * another is shown waits: in its place, the other could never be read again.
 */
export const ShownOnceDialogs = ({ children }: { readonly children: ReactNode }) => {
  const [secrets, setSecrets] = useState<readonly WaitingSecret[]>([]);
  const show = useCallback<ShowOnce>(
    (shown, opener) => setSecrets((before) => [...before, { id: crypto.randomUUID(), shown, opener }]),
    [],
  );
  const [secret] = secrets;
  const close = () => {
    setSecrets(([_, ...others]) => others);
    secret?.opener?.focus();
  };
  return (
    <ShowOnceContext value={show}>
      {children}
      {secret !== undefined && <ShownOnceDialog key={secret.id} {...secret.shown} onClose={close} />}
    </ShowOnceContext>
  );
};

/** Shows a secret with a button that copies it. Only its button closes it, so it is not closed by accident. */
const ShownOnceDialog = ({ title, label, secret, children, onClose }: ShownOnce & { readonly onClose: () => void }) => (
  <Dialog title={title} isOpen onClose={onClose} closesOnEscape={false}>
    <DialogText>
      <Notice tone="attention" title="It is shown only now">
        Save it where your app reads its secrets. Nobody can look it up later.
      </Notice>
    </DialogText>
    <CopyText text={secret} label={label} />
    {children}
    <DialogButtons>
      <Button onClick={onClose}>I have saved it</Button>
    </DialogButtons>
  </Dialog>
);
