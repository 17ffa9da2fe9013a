import { expect, test, vi } from "vitest";
import { scheduleHandler } from "../../../../shared/lambda/schedule-handler.ts";
import type { Deadline } from "../../../../shared/platform/deadline.ts";
import { errorFields, type LogFields } from "../../../../shared/platform/log.ts";
import { aLambdaContext } from "../../../builders/aws/lambda-context.ts";
import { loggedByRuntime, rejectionOf } from "../../../builders/aws/logged-by-runtime.ts";
import { captureLog } from "../../../builders/run/captured-log.ts";

const fields: LogFields<"refresh-catalog.ran"> = { kind: "fresh", plans: 4 };

test("a scheduled run gets the time that is left and logs its fields in one line", async () => {
  const log = captureLog();
  const run = vi.fn(async (_deadline: Deadline) => fields);
  await scheduleHandler("refresh-catalog.ran", run)({}, aLambdaContext(12_345));
  expect(run.mock.calls.map(([deadline]) => deadline.remainingMs())).toEqual([12_345]);
  expect(log.lines()).toEqual([{ level: "info", event: "refresh-catalog.ran", ...fields }]);
});

test("a scheduled run that fails rejects with the error's name and place, and without its message and its items", async () => {
  const log = captureLog();
  const failure = Object.assign(new TypeError("08031234567 is no number"), { Item: { phone_number: "08031234567" } });
  const rejected = await rejectionOf(
    scheduleHandler("refresh-catalog.ran", () => Promise.reject(failure))({}, aLambdaContext()),
  );
  expect(errorFields(rejected)).toEqual(errorFields(failure));
  expect(loggedByRuntime(rejected)).not.toContain("0803");
  expect(log.lines()).toEqual([]);
});
