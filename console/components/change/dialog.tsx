import { Modal } from "@mantine/core";
import type { ReactNode } from "react";
import styles from "./dialog.module.css";

type DialogProps = {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** False: only a button of the dialog closes it. */
  readonly closesOnEscape?: boolean;
  /** Above the dialog from which it was opened. */
  readonly isOnTop?: boolean;
  readonly children: ReactNode;
};

/** A modal dialog: it keeps the focus, closes with Escape and gives the focus back. */
export const Dialog = ({ title, isOpen, onClose, closesOnEscape = true, isOnTop = false, children }: DialogProps) => (
  // Mantine's scroll lock and its header would add a style tag and a second banner.
  <Modal.Root
    opened={isOpen}
    onClose={onClose}
    lockScroll={false}
    closeOnEscape={closesOnEscape}
    closeOnClickOutside={false}
    centered
    zIndex={isOnTop ? 300 : 200}
  >
    <Modal.Overlay />
    <Modal.Content>
      <div className={styles.head}>
        <Modal.Title className={styles.title}>{title}</Modal.Title>
        {closesOnEscape && <Modal.CloseButton aria-label="Close" />}
      </div>
      <div className={styles.body}>{children}</div>
    </Modal.Content>
  </Modal.Root>
);

/** What is read out when the dialog opens: its consequence. */
export const DialogText = ({ children }: { readonly children: ReactNode }) => (
  <Modal.Body className={styles.text}>{children}</Modal.Body>
);

export const DialogButtons = ({ children }: { readonly children: ReactNode }) => (
  <div className={styles.buttons}>{children}</div>
);
