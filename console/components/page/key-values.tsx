import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { Status } from "../values/status.tsx";
import { Time } from "../values/time.tsx";

type Key = ActionOutput<"keys list">["keys"][number];

export const KeyMode = ({ keyOf: { mode } }: { readonly keyOf: Pick<Key, "mode"> }) =>
  mode === "live" ? "Live" : <Status tone="attention">Test</Status>;

export const KeyStatus = ({
  keyOf: { status, expires_at },
}: {
  readonly keyOf: Pick<Key, "status" | "expires_at">;
}) => {
  if (status === "revoked") return <Status tone="neutral">Revoked</Status>;
  if (status === "ended") return <Status tone="neutral">Ended</Status>;
  if (expires_at === undefined) return <Status tone="good">Active</Status>;
  return (
    <>
      <Status tone="attention">Replaced</Status> valid until <Time iso={expires_at} />
    </>
  );
};
