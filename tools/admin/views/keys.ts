import type { ActionOutput } from "../../../shared/contract/actions/actions.ts";
import { orderLimitsText } from "../../../shared/contract/order-limits.ts";
import { table, timeCell } from "./print.ts";

export const keysTable = (keys: NonNullable<ActionOutput<"accounts show">["keys"]>, timeZone: string): string =>
  table(
    ["key", "name", "last four", "mode", "status", "permissions", "limits", "created", "expires"],
    keys.map((key) => [
      ...[key.key_id, key.name, key.last_four, key.mode, key.status, key.permissions.join()],
      ...[key.order_limits && orderLimitsText(key.order_limits), timeCell(key.created_at, timeZone)],
      timeCell(key.expires_at, timeZone),
    ]),
  );
