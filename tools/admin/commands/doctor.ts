import type { Command } from "commander";
import * as z from "#zod";
import { operatorReadPolicy } from "../../../infra/outputs.ts";
import { type CheckResult, wrong } from "../../../shared/actions/doctor-check-result.ts";
import { addCommand, type Report } from "../command.ts";
import { causeOf, isUnreachable } from "../connection-error.ts";
import type { AdminContext } from "../context.ts";
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
    const checkService = "Check that the service is running. npm start starts it";
    if (target.isLocal && isUnreachable(error)) return wrong("does not answer", checkService);
    const [, permission] = /is not authorized to perform: ([\w-]+:\w+)/.exec(String(error)) ?? [];
    const found = `could not be checked (${kindOf(error)}${permission === undefined ? "" : `: ${permission}`})`;
    if (target.isLocal) return wrong(found, checkService);
    const todo =
      permission === undefined
        ? "Check that the stage is deployed and that your AWS credentials allow this"
        : `Your AWS credentials lack ${permission}: the policy ${operatorReadPolicy(target.name)} allows it`;
    return wrong(found, todo);
  };

/** The code of a failed connection, or the error's name. Messages may name what was sent. */
const kindOf = (error: unknown): string => {
  const cause = causeOf(error);
  if (!(cause instanceof Error)) return "unknown";
  return "code" in cause && typeof cause.code === "string" ? cause.code : cause.name;
};

const runDoctor = async (context: AdminContext): Promise<Report> => {
  // Every run loads this file, and only this command needs the checks with their clients.
  const { runChecks } = await import("../../../shared/actions/doctor.ts");
  const { doctorChecks } = await import("../doctor-checks.ts");
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
