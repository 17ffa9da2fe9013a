import { copyBucket } from "../../shared/audit-stream/copy-bucket.ts";
import { copyEntries } from "../../shared/audit-stream/copy-entries.ts";
import { streamBatchHandler } from "../../shared/lambda/stream-handler.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { copyAuditSpec } from "../specs.ts";

const env = readEnv(copyAuditSpec.environment);

/** Reads the audit table's stream, and copies each entry into a bucket from which nobody can delete it for a time. */
export const handler = streamBatchHandler("audit.copied", copyEntries(copyBucket(env.AUDIT_COPY_BUCKET)));
