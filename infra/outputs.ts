import type { Role } from "../shared/contract/roles.ts";

/**
 * Every environment variable is also an output of the service stack, so that the admin commands find a stage's
 * resources. `LEDGER_TABLE` is the output `LedgerTable`, because the name of an output has no underscores. An empty
 * value has no output.
 */
export const outputOf = (variable: string): string => pascalCase(variable.toLowerCase());

/** `list-catalog` and `list_catalog` are `ListCatalog` on AWS. */
export const pascalCase = (name: string): string =>
  name
    .split(/[-_]/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join("");

/** The output with the base URL, `/v1` included. */
export const API_URL_OUTPUT = "ApiUrl";

/** The output with the base URL of operators' commands, in a stage whose callers have an API of their own. */
export const OPERATIONS_URL_OUTPUT = "OperationsUrl";

/** The outputs with the ARNs of the topics that alarms notify, by their urgency. */
export const TOPIC_OUTPUTS = { page: "AlarmTopic", ticket: "TicketTopic" } as const;

export const backupVaultName = (stage: string): string => `${stage}-airtime-backups`;

/** The vault of a stage's copies in its recovery region. Both regions know it by name: no reference crosses regions. */
export const copyVaultName = (stage: string): string => `${stage}-airtime-copies`;

export const stackParts = ["Data", "Network", "Service", "Recovery", "Administrator"] as const;
export type StackPart = (typeof stackParts)[number];
/** `prod` and `Service` make the stack `Prod-Service`. */
export const stackName = (stage: string, part: StackPart): string =>
  `${stage.charAt(0).toUpperCase()}${stage.slice(1)}-${part}`;

/** The IAM policies of the people who operate a stage. */
export const operatorReadPolicy = (stage: string): string => `${stage}-airtime-operator-read`;
export const operatorActPolicy = (stage: string): string => `${stage}-airtime-operator-act`;
/** In a role, with AWS credentials: the requests of the operator's command line, and nothing else. */
export const rolePolicy = (stage: string, role: Exclude<Role, "operator">): string =>
  `${stage}-airtime-operator-as-${role}`;
/** One of 6,144 characters would not hold both: a role needs the two of them. */
export const operatorDirectReadPolicy = (stage: string): string => `${stage}-airtime-operator-direct-read`;
export const operatorDirectPolicy = (stage: string): string => `${stage}-airtime-operator-direct`;
