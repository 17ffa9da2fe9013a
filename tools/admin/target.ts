import { existsSync } from "node:fs";
import * as z from "#zod";
import type { StageSettings } from "../../infra/stage-settings.ts";
import { environment } from "../../shared/platform/env.ts";
import type { Urgency } from "../../shared/platform/log-catalog.ts";
import { OperatorError } from "../../shared/platform/operator-error.ts";
import { type SecretVariable, secretIds, secretTable } from "../../shared/platform/secret-table.ts";
import { readJsonFile } from "../local/json-file.ts";
import { localAwsEnvironment, setEnvironment } from "../local/local-aws.ts";
import { adminDetails, adminFileOf } from "../local/service-file.ts";

/** The service to operate: its base URL, and the environment of its functions (tables, queues, secrets, addresses). */
export type Target = {
  readonly name: string;
  /** The operator's AWS identity; absent locally. */
  readonly callerArn?: string;
  /** If local, the upstream is called from this machine; a stage calls it from its own addresses only. */
  readonly isLocal: boolean;
  /** Absent locally. */
  readonly stage?: {
    readonly settings: StageSettings;
    readonly sells: boolean;
    readonly topicArns: Readonly<Record<Urgency, string>>;
  };
  /** With its `/v1`. */
  readonly baseUrl: string;
  readonly environment: z.output<typeof environment> & Readonly<Record<SecretVariable, string>>;
};

/** The service on this machine. From then on the SDK clients of this process use its endpoints. */
export const localTarget = (serviceFile: string): Target => {
  const path = adminFileOf(serviceFile);
  if (!existsSync(path)) {
    throw new OperatorError(
      `No service is running here (${path} does not exist). Start one with npm start, or set SERVICE_FILE`,
    );
  }
  const details = readJsonFile(path, adminDetails);
  if (details === undefined) throw new OperatorError(`${path} was removed: the service is shutting down`);
  setEnvironment(localAwsEnvironment(details.endpoints));
  try {
    return {
      name: "local",
      isLocal: true,
      baseUrl: details.base_url,
      environment: environmentFrom((variable) => details.environment[variable]),
    };
  } catch (error) {
    if (error instanceof z.$ZodError)
      throw new OperatorError("Another version of the service runs here. Stop it, and run npm start again");
    throw error;
  }
};

export const environmentFrom = (read: (variable: string) => string | undefined): Target["environment"] => ({
  ...environment.parse(
    Object.fromEntries(Object.keys(environment.shape).map((variable) => [variable, read(variable)])),
  ),
  ...secretIds((name) => read(secretTable[name].variable)),
});
