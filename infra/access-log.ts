import { accessLogFields } from "./gateway.ts";

/** A request and its answer, as an access log shows them. */
export type Access = {
  readonly requestId: string;
  /** The id that Lambda gave the invocation; undefined where there was none, and on this machine. */
  readonly invocation: string | undefined;
  readonly routeKey: string;
  readonly status: number;
  /** What the function returned; undefined where the gateway answered by itself. */
  readonly answered: number | undefined;
  readonly latencyMs: number;
  /** The gateway's own message. */
  readonly error: string | undefined;
  /** The peer of the connection to the gateway, whatever headers say. */
  readonly sourceIp: string;
};

type Variable = (typeof accessLogFields)[keyof typeof accessLogFields];

/**
 * A line of the access log in the stage's format. A variable without a value is "-". Source: AWS, "Customize HTTP API
 * access logs".
 */
export const accessLogLine = ({
  requestId,
  invocation,
  routeKey,
  status,
  answered,
  latencyMs,
  error,
  sourceIp,
}: Access): string => {
  const values: Readonly<Record<Variable, string | number | undefined>> = {
    "$context.requestId": requestId,
    "$context.awsEndpointRequestId": invocation,
    "$context.routeKey": routeKey,
    "$context.status": status,
    "$context.integration.status": answered,
    "$context.responseLatency": latencyMs,
    "$context.error.message": error,
    "$context.identity.sourceIp": sourceIp,
  };
  const fields = Object.entries(accessLogFields).map(([name, variable]) => [name, String(values[variable] ?? "-")]);
  return JSON.stringify(Object.fromEntries(fields));
};
