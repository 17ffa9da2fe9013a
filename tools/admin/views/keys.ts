import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { table } from "./print.ts";

export const keysTable = (keys: ActionOutput<"accounts show">["keys"]): string =>
  table(
    ["key", "mode", "status", "permissions", "created", "expires"],
    keys.map((key) => [key.key_id, key.mode, key.status, key.permissions.join(), key.created_at, key.expires_at]),
  );
