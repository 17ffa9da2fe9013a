import { Skeleton, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { ActionError, isLasting, sentenceOf } from "../../api/action-error.ts";
import { BusyButton } from "./busy-button.tsx";
import { Notice } from "./notice.tsx";
import styles from "./query.module.css";

export type ShownQuery<Data> = {
  readonly data: Data | undefined;
  readonly error: Error | null;
  readonly isFetching: boolean;
  /** False: nothing is read by itself. */
  readonly isEnabled?: boolean;
  readonly refetch: () => Promise<unknown>;
  /** Reading again may help although the last request would be refused again. */
  readonly canTryAgain?: true;
  /** How far it is, where that takes long. */
  readonly progress?: string;
};

type QueryProps<Data> = {
  /** The result of useRead, useReadPages or useReport. */
  readonly of: ShownQuery<Data>;
  readonly children: (data: NonNullable<Data>) => ReactNode;
};

/** Shows what was read; until then a placeholder. After an error it says what to do, beside what was read before. */
export const Query = <Data,>({ of, children }: QueryProps<Data>) => {
  const { data, error, isFetching, isEnabled, progress } = of;
  const tryAgain = (of.canTryAgain || !isLasting(error)) && (
    <BusyButton variant="default" size="xs" isBusy={isFetching} onClick={() => void of.refetch()}>
      Try again
    </BusyButton>
  );
  if (data === undefined || data === null) {
    if (error !== null) return <Failure error={error} action={tryAgain} />;
    return isEnabled === false && !isFetching ? null : <Loading progress={progress} />;
  }
  return (
    <>
      {error !== null && (
        <Notice tone="bad" title="This may be out of date: loading it again failed" action={tryAgain}>
          {sentenceOf(error)}
        </Notice>
      )}
      {children(data)}
    </>
  );
};

type FailureProps = {
  readonly error: unknown;
  /** A button that tries again, where that may help. */
  readonly action?: ReactNode;
};

/** Why something cannot be shown: it does not exist, it is not for this person, or it could not be loaded. */
const Failure = ({ error, action }: FailureProps) => {
  const status = error instanceof ActionError ? error.details.status : undefined;
  if (status === 404 || status === 403) {
    return (
      <Notice tone="neutral" title={status === 404 ? "Not found" : "Not allowed"}>
        {sentenceOf(error)}
      </Notice>
    );
  }
  return (
    <Notice tone="bad" title="This could not be loaded" action={action}>
      {sentenceOf(error)}
    </Notice>
  );
};

/** Grey lines where something is being loaded. */
export const Loading = ({ progress }: { readonly progress?: string | undefined }) => (
  <div className={styles.loading} role="status">
    {progress === undefined ? <span className="visually-hidden">Loading</span> : <Text>{progress}</Text>}
    <Skeleton height={14} width="40%" />
    <Skeleton height={14} />
    <Skeleton height={14} width="75%" />
  </div>
);
