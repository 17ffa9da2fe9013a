import { afterEach, expect, test, vi } from "vitest";
import { runDoctor } from "../../../../../tools/acceptance/steps/doctor.ts";
import { acceptanceStage } from "../../../../builders/aws/acceptance-stage.ts";

afterEach(() => vi.useRealTimers());

/** The step, if doctor always prints this, on a clock that each wait sets forward. */
const doctorThatPrints = (answer: unknown): ReturnType<typeof runDoctor> => {
  vi.useFakeTimers();
  const { signal } = new AbortController();
  const wait = async (delayMs: number) => void vi.advanceTimersByTime(delayMs);
  return runDoctor(
    { stage: "try", region: "eu-west-1", startedAt: new Date(), signal, wait },
    acceptanceStage({ admin: async (schema) => schema.parse(answer) }),
  );
};

test("a check that stays wrong fails the step, with what was found and what to do", async () => {
  const wrong = { check: "consumers", state: "wrong", found: "its mapping is Disabled", todo: "Follow the runbook" };
  const fine = { check: "events", state: "ok", found: "none" };
  await expect(doctorThatPrints({ ok: false, checks: [wrong, fine] })).rejects.toThrow(
    "consumers: its mapping is Disabled. Follow the runbook",
  );
});
