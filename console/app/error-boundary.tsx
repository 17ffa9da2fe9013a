import { Button } from "@mantine/core";
import { Component, type ReactNode } from "react";
import { Notice } from "../components/page/notice.tsx";
import { Page } from "../components/page/page.tsx";
import { findPageFailure, type PageFailure, pageFailureTexts } from "./page-failure.ts";

type Props = { readonly children: ReactNode };
type State = {
  readonly hasFailed: boolean;
  /** Absent until it is found out. */
  readonly failure?: PageFailure;
};

/**
 * A page that fails, or that cannot be loaded offline or after a deployment, is replaced by a notice; the rest stays.
 */
export class ErrorBoundary extends Component<Props, State> {
  override state: State = { hasFailed: false };

  static getDerivedStateFromError(): State {
    return { hasFailed: true };
  }

  override componentDidCatch() {
    void findPageFailure().then((failure) => this.setState({ failure }));
  }

  override render() {
    const { hasFailed, failure } = this.state;
    if (!hasFailed) return this.props.children;
    return (
      <Page title="This page failed">
        <Notice
          tone="bad"
          title="It cannot be shown"
          action={
            <Button variant="default" size="xs" onClick={() => location.reload()}>
              Reload
            </Button>
          }
        >
          {failure !== undefined && pageFailureTexts[failure]}
        </Notice>
      </Page>
    );
  }
}
