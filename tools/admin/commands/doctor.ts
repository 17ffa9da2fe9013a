import type { Command } from "commander";
import * as z from "#zod";
import { operatorReadPolicy } from "../../../infra/outputs.ts";
import type { CheckResult } from "../../../shared/actions/check-result.ts";
import { runChecks } from "../../../shared/actions/doctor.ts";
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
    run: runDoctor,
  });
};

/** A check that throws is a result too. */
const failedCheck =
  ({ target }: AdminContext) =>
  (error: unknown): CheckResult => {
    const { name, message } = error instanceof Error ? error : { name: "unknown", message: "" };
    const [, permission] = /is not authorized to perform: ([\w-]+:\w+)/.exec(message) ?? [];
    const found = `could not be checked (${name}${permission === undefined ? "" : `: ${permission}`})`;
    if (target.isLocal) return { state: "wrong", found, todo: "Check that the service is running" };
    const todo =
      permission === undefined
        ? "Check that the stage is deployed and that your AWS credentials allow this"
        : `Your AWS credentials lack ${permission}: the policy ${operatorReadPolicy(target.name)} allows it`;
    return { state: "wrong", found, todo };
  };

const runDoctor = async (context: AdminContext): Promise<Report> => {
  const json = await runChecks(doctorChecks, context, failedCheck(context));
  return {
    ok: json.ok,
    json,
    text: table(
      ["check", "state", "found", "what to do"],
      json.checks.map(({ check, state, found, todo }) => [check, state, found, todo]),
    ),
  };
};
