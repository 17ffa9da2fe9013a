import { Button } from "@mantine/core";
import { Component, type ReactNode } from "react";
import { Notice } from "../components/notice.tsx";

type Props = { readonly children: ReactNode };

/** A page that fails, or that cannot be loaded offline or after a deployment, is replaced by a notice; the rest stays. */
export class ErrorBoundary extends Component<Props, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <Notice
        tone="bad"
        title="This page failed"
        action={
          <Button variant="default" size="xs" onClick={() => location.reload()}>
            Reload
          </Button>
        }
      >
        {navigator.onLine
          ? "A new version of the console may have been deployed. Reload the page."
          : "Without a network this page cannot be loaded. Reload it once the network is back."}
      </Notice>
    );
  }
}
