import * as z from "zod";
import type { ConsoleToken } from "./console-token.ts";
import type { CommandResult } from "./run-command.ts";

export type Wait = (delayMs: number, what: string) => Promise<void>;

/** What every step works with. */
export type Context = {
  readonly stage: string;
  readonly region: string;
  readonly startedAt: Date;
  readonly signal: AbortSignal;
  /** Waits, and prints what for. Ends at once if the run is interrupted. */
  readonly wait: Wait;
  /** Absent if none was given: the stage has no console then. */
  readonly consoleToken?: ConsoleToken | undefined;
};

/** The deployed simulator, by the outputs of its stack. */
export const simulatorOutputs = z.object({
  SimulatorUrl: z.url(),
  SimulatorTable: z.string().min(1),
  NotificationsUrl: z.url(),
  NotificationsArn: z.string().startsWith("arn:"),
});
export type Simulator = z.output<typeof simulatorOutputs>;

/** The deployed stage, by the outputs of its service stack. */
export const stageOutputs = z.object({
  ApiUrl: z.url(),
  ConsoleUrl: z.url().optional(),
  AlarmTopic: z.string().startsWith("arn:"),
  TicketTopic: z.string().startsWith("arn:"),
  AccessTable: z.string().min(1),
  LedgerTable: z.string().min(1),
  ChecksumKeySecretId: z.string().min(1),
});

export type Stage = {
  readonly outputs: z.output<typeof stageOutputs>;
  /** Of the API, `/v1` included. */
  readonly baseUrl: string;
  /** Runs a command of the project that knows the stage. */
  readonly run: (command: string, args: readonly string[], input?: string) => Promise<CommandResult>;
  /** Runs an operator's command, and returns what `--json` prints. */
  readonly admin: <Schema extends z.ZodType>(
    schema: Schema,
    args: readonly string[],
    input?: string,
  ) => Promise<z.output<Schema>>;
};
