import type { Stage } from "../../../tools/acceptance/context.ts";

const refused = () => Promise.reject(new Error("no command is run"));

/** A stage as a step of an acceptance knows it, of which nothing is deployed. */
export const acceptanceStage = ({
  outputs,
  ...changes
}: Partial<Omit<Stage, "outputs">> & { readonly outputs?: Partial<Stage["outputs"]> } = {}): Stage => ({
  baseUrl: "https://api.example.com/v1",
  run: refused,
  admin: refused,
  ...changes,
  outputs: {
    ...{ ApiUrl: "https://api.example.com/v1", AlarmTopic: "arn:", TicketTopic: "arn:" },
    ...{ AccessTable: "-", LedgerTable: "-", AuditTable: "-", CacheTable: "-", ChecksumKeySecretId: "-" },
    ...outputs,
  },
});
