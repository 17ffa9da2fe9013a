import type { Command } from "commander";
import * as z from "zod";
import { operatorReadPolicy } from "../../../infra/outputs.ts";
import type { CheckResult, DoctorCheck } from "../check-result.ts";
import { addCommand, type Report } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { doctorChecks } from "../doctor-checks.ts";
import { table } from "../views/print.ts";

export const addDoctor = (program: Command): void => {
  addCommand(program, {
    usage: "doctor",
    readOnly: true,
    summary: "Check everything that the service depends on and say what to do; exit code 1 if something is wrong",
    example: "doctor",
    input: z.object({}),
    run: runChecks,
  });
};

/** A check that throws is a result too. */
const resultOf = async (context: AdminContext, check: DoctorCheck): Promise<CheckResult> => {
  try {
    return await check(context);
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: "unknown", message: "" };
    const [, permission] = /is not authorized to perform: ([\w-]+:\w+)/.exec(message) ?? [];
    const found = `could not be checked (${name}${permission === undefined ? "" : `: ${permission}`})`;
    if (context.target.isLocal) return { state: "wrong", found, todo: "Check that the service is running" };
    const todo =
      permission === undefined
        ? "Check that the stage is deployed and that your AWS credentials allow this"
        : `Your AWS credentials lack ${permission}: the policy ${operatorReadPolicy(context.target.name)} allows it`;
    return { state: "wrong", found, todo };
  }
};

const runChecks = async (context: AdminContext): Promise<Report> => {
  const results = await Promise.all(
    Object.entries(doctorChecks).map(async ([name, check]) => ({ check: name, ...(await resultOf(context, check)) })),
  );
  const ok = results.every(({ state }) => state !== "wrong");
  return {
    ok,
    json: { ok, checks: results },
    text: table(
      ["check", "state", "found", "what to do"],
      results.map(({ check, state, found, todo }) => [check, state, found, todo]),
    ),
  };
};
