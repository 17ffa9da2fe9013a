import {
  GetObjectLockConfigurationCommand,
  type GetObjectLockConfigurationCommandOutput,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  S3Client,
} from "@aws-sdk/client-s3";
import { type CopiedEntry, copiedEntry } from "../../shared/ledger/copied-entry.ts";
import { withClient } from "../aws/with-client.ts";

/** The copies of audit entries: the logs that have some, when S3 got the first one, and when this was read. */
export type AuditCopies = {
  readonly logs: ReadonlySet<string>;
  readonly beganAt: string;
  readonly readAtMs: number;
  /** Those of one log that were there then, by their places. */
  readonly entriesOf: (auditLog: string) => AsyncIterable<CopiedEntry>;
};

/** Versions are listed, by their keys, because a delete marker hides an object from a list of objects. */
async function* listVersions(s3: S3Client, input: { readonly Bucket: string; readonly Prefix?: string }) {
  let page: ListObjectVersionsCommandOutput | undefined;
  do {
    const after = { KeyMarker: page?.NextKeyMarker, VersionIdMarker: page?.NextVersionIdMarker };
    page = await s3.send(new ListObjectVersionsCommand({ ...input, ...after }));
    for (const { Key = "", LastModified } of page.Versions ?? []) yield { copy: copiedEntry(Key), at: LastModified };
  } while (page.IsTruncated);
}

/** Works with the copies in a bucket. They are listed twice, because those of all logs may be more than a process can hold. */
export const withAuditCopies = <Result>(
  Bucket: string,
  work: (copies: AuditCopies) => Promise<Result>,
): Promise<Result> =>
  withClient(new S3Client({ maxAttempts: 3 }), async (s3) => {
    const readAt = new Date();
    const logs = new Set<string>();
    let beganAt = readAt;
    for await (const { copy, at = readAt } of listVersions(s3, { Bucket })) {
      logs.add(copy.auditLog);
      if (at < beganAt) beganAt = at;
    }
    async function* entriesOf(auditLog: string) {
      for await (const { copy, at } of listVersions(s3, { Bucket, Prefix: `${auditLog}/` })) {
        if (at === undefined || at <= readAt) yield copy;
      }
    }
    return work({ logs, beganAt: beganAt.toISOString(), readAtMs: readAt.getTime(), entriesOf });
  });

/** The days for which nobody can delete a copy; undefined if the bucket does not lock what is put into it. */
export const readLockedDays = (Bucket: string): Promise<number | undefined> =>
  withClient(new S3Client({ maxAttempts: 3 }), async (s3) => {
    const { ObjectLockConfiguration } = await s3.send(new GetObjectLockConfigurationCommand({ Bucket })).catch(ifNone);
    const { Mode, Days = 0, Years = 0 } = ObjectLockConfiguration?.Rule?.DefaultRetention ?? {};
    return Mode === "COMPLIANCE" ? Days + Years * 365 : undefined;
  });

/** S3 answers 404 for a bucket without Object Lock. */
const ifNone = (error: unknown): Pick<GetObjectLockConfigurationCommandOutput, "ObjectLockConfiguration"> => {
  if (error instanceof Error && error.name === "ObjectLockConfigurationNotFoundError") return {};
  throw error;
};
