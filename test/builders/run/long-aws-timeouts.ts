import { vi } from "vitest";
import { WAIT_MS_MAX } from "./until.ts";

// On a busy machine an emulator may answer later than AWS ever does, which says nothing about the service. A call whose
// answer is lost is sent again while the test still waits.
vi.mock("../../../shared/platform/time-budgets.ts", async (importOriginal) => ({
  ...(await importOriginal<object>()),
  AWS_CONNECT_MS_MAX: WAIT_MS_MAX / 4,
  AWS_RESPONSE_MS_MAX: WAIT_MS_MAX / 4,
}));
