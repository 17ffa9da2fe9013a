import type { Command } from "commander";
import * as z from "zod";
import { addCommand, type Report } from "../command.ts";
import type { AdminContext } from "../context.ts";
import { checks, type DoctorCheck, type Finding } from "../doctor-checks.ts";
import { table } from "../views/print.ts";

export const addDoctor = (program: Command): void => {
  addCommand(program, {
    usage: "doctor",
    readOnly: true,
    summary: "look at everything that the service depends on, and say what to do; exit code 1 if something is wrong",
    example: "doctor",
    input: z.object({}),
    run: examine,
  });
};

/** A check that breaks is a finding too. */
const find = async (context: AdminContext, check: DoctorCheck): Promise<Finding> => {
  try {
    return await check(context);
  } catch (error) {
    const found = `could not be looked at (${error instanceof Error ? error.name : "unknown"})`;
    const todo = context.target.isLocal
      ? "Is the service running?"
      : "Does it stand, and do your AWS credentials allow this?";
    return { state: "wrong", found, todo };
  }
};

const examine = async (context: AdminContext): Promise<Report> => {
  const findings = await Promise.all(
    Object.entries(checks).map(async ([check, look]) => ({ check, ...(await find(context, look)) })),
  );
  const ok = findings.every(({ state }) => state !== "wrong");
  return {
    ok,
    json: { ok, checks: findings },
    text: table(
      ["check", "", "found", "what to do"],
      findings.map(({ check, state, found, todo }) => [check, state, found, todo]),
    ),
  };
};
