import { attestEntries } from "../../shared/audit-stream/attest-entries.ts";
import { streamBatchHandler } from "../../shared/lambda/stream-handler.ts";
import { documentClient } from "../../shared/platform/aws-clients.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { attestAuditSpec } from "../specs.ts";

const env = readEnv(attestAuditSpec.environment);

/** Reads the audit table's stream, keeps the hash of each entry, and notices every change of an earlier one. */
export const handler = streamBatchHandler(
  "audit.attested",
  attestEntries({ db: documentClient(), table: env.AUDIT_TABLE }),
);
