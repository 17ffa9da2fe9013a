import * as z from "#zod";
import type { ProcessResult } from "./run-process.ts";

export const simulatorStackName = (stage: string): string =>
  `${stage.charAt(0).toUpperCase()}${stage.slice(1)}-Simulator`;

export type Wait = (delayMs: number, what: string) => Promise<void>;

/** What every step works with. */
export type Context = {
  readonly stage: string;
  readonly region: string;
  readonly startedAt: Date;
  readonly signal: AbortSignal;
  /** Waits, and prints what for. Ends at once if the run is interrupted. */
  readonly wait: Wait;
};

/** The deployed simulator, by the outputs of its stack. */
export const simulatorOutputs = z.object({
  SimulatorUrl: z.url(),
  SimulatorTable: z.string().check(z.minLength(1)),
  ReceiverUrl: z.url(),
  NotificationsUrl: z.url(),
  NotificationsArn: z.string().check(z.startsWith("arn:")),
});
export type Simulator = z.output<typeof simulatorOutputs>;

/** The deployed stage, by the outputs of its service stack. */
export const stageOutputs = z.object({
  ApiUrl: z.url(),
  AlarmTopic: z.string().check(z.startsWith("arn:")),
  TicketTopic: z.string().check(z.startsWith("arn:")),
  AccessTable: z.string().check(z.minLength(1)),
  LedgerTable: z.string().check(z.minLength(1)),
  AuditTable: z.string().check(z.minLength(1)),
  CacheTable: z.string().check(z.minLength(1)),
  ChecksumKeySecretId: z.string().check(z.minLength(1)),
});

export type Stage = {
  readonly outputs: z.output<typeof stageOutputs>;
  /** The base URL of the API, `/v1` included. */
  readonly baseUrl: string;
  /** Runs a command of the project that knows the stage. */
  readonly run: (command: string, args: readonly string[], input?: string) => Promise<ProcessResult>;
  /** Runs an operator's command, and returns what `--json` prints. */
  readonly admin: <Schema extends z.ZodMiniType>(
    schema: Schema,
    args: readonly string[],
    input?: string,
  ) => Promise<z.output<Schema>>;
};
