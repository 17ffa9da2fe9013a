import { vi } from "vitest";
import { WAIT_MS_MAX } from "./until.ts";

// On a busy machine an emulator may answer later than AWS ever does, which says nothing about the service.
vi.mock("../../shared/platform/time-budgets.ts", async (importOriginal) => ({
  ...(await importOriginal<object>()),
  AWS_CONNECT_MS_MAX: WAIT_MS_MAX,
  AWS_RESPONSE_MS_MAX: WAIT_MS_MAX,
}));
