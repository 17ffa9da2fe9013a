import { Button, Skeleton } from "@mantine/core";
import type { ReactNode } from "react";
import { sentenceOf } from "../api/action-error.ts";
import { Notice } from "./notice.tsx";
import styles from "./query.module.css";

type ShownQuery<Data> = {
  readonly data: Data | undefined;
  readonly error: Error | null;
  readonly isFetching: boolean;
  readonly refetch: () => Promise<unknown>;
};

type QueryProps<Data> = {
  /** Of useRead or useReadPages. */
  readonly of: ShownQuery<Data>;
  readonly children: (data: NonNullable<Data>) => ReactNode;
};

/** Shows what was read; until then a placeholder. After an error it says what to do, beside what was read before. */
export const Query = <Data,>({ of, children }: QueryProps<Data>) => {
  const { data, error, isFetching } = of;
  const failure = error !== null && (
    <Notice
      tone="bad"
      title={data === undefined ? "This could not be loaded" : "This may be out of date: loading it again failed"}
      action={
        <Button variant="default" size="xs" loading={isFetching} onClick={() => void of.refetch()}>
          Try again
        </Button>
      }
    >
      {sentenceOf(error)}
    </Notice>
  );
  if (data === undefined || data === null) {
    return failure === false ? <Loading /> : failure;
  }
  return (
    <>
      {failure}
      {children(data)}
    </>
  );
};

/** Grey lines where something is being loaded. */
export const Loading = () => (
  <div className={styles.loading} role="status">
    <span className="visually-hidden">Loading</span>
    <Skeleton height={14} width="40%" />
    <Skeleton height={14} />
    <Skeleton height={14} width="75%" />
  </div>
);
