import type { walletActions } from "../contract/actions/wallet.ts";
import type { ActionRuns } from "./action-runs.ts";

export const walletRuns: ActionRuns<typeof walletActions> = {};
