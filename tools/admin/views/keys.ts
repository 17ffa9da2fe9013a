import type { Account } from "../../../shared/access/account-store.ts";
import { table } from "./print.ts";

export const keyView = ({ hash: _hash, ...key }: Account["keys"][number], nowMs: number) => ({
  ...key,
  status: key.status === "active" && key.expires_at && nowMs >= Date.parse(key.expires_at) ? "ended" : key.status,
});

export const keysTable = (keys: readonly ReturnType<typeof keyView>[]): string =>
  table(
    ["key", "mode", "status", "permissions", "created", "expires"],
    keys.map((key) => [key.key_id, key.mode, key.status, key.permissions.join(), key.created_at, key.expires_at]),
  );
