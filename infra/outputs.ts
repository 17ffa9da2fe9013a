/**
 * Every environment variable is an output of the service's stack too, so that the operator's commands find a stage's parts.
 * `LEDGER_TABLE` is the output `LedgerTable`, for an output's name has no underscores; what is empty is left out.
 */
export const outputOf = (variable: string): string =>
  variable
    .toLowerCase()
    .split("_")
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join("");

/** Output with the interface's address, `/v1` included. */
export const API_URL_OUTPUT = "ApiUrl";

/** `prod` and `Service` make the stack `Prod-Service`. */
export const stackName = (stage: string, part: "Data" | "Network" | "Service"): string =>
  `${stage.charAt(0).toUpperCase()}${stage.slice(1)}-${part}`;
