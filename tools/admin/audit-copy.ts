import {
  GetObjectLockConfigurationCommand,
  type GetObjectLockConfigurationCommandOutput,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  S3Client,
} from "@aws-sdk/client-s3";
import { type CopiedEntry, copiedEntry } from "../../shared/ledger/copied-entry.ts";
import { withClient } from "../aws/with-client.ts";

/** The copies of audit entries, by log; when S3 got the first one, and when they were read. */
type AuditCopies = {
  readonly byLog: ReadonlyMap<string, readonly CopiedEntry[]>;
  readonly beganAt: string;
  readonly readAtMs: number;
};

/** All copies. Versions are listed, because a delete marker hides an object from a list of objects. */
export const readAuditCopies = (Bucket: string): Promise<AuditCopies> =>
  withClient(new S3Client({ maxAttempts: 3 }), async (s3) => {
    const byLog = new Map<string, CopiedEntry[]>();
    const readAt = new Date();
    let beganAt = readAt;
    let page: ListObjectVersionsCommandOutput | undefined;
    do {
      const after = { KeyMarker: page?.NextKeyMarker, VersionIdMarker: page?.NextVersionIdMarker };
      page = await s3.send(new ListObjectVersionsCommand({ Bucket, ...after }));
      for (const { Key = "", LastModified } of page.Versions ?? []) {
        const copy = copiedEntry(Key);
        const ofLog = byLog.get(copy.auditLog);
        if (ofLog === undefined) byLog.set(copy.auditLog, [copy]);
        else ofLog.push(copy);
        if (LastModified !== undefined && LastModified < beganAt) beganAt = LastModified;
      }
    } while (page.IsTruncated);
    return { byLog, beganAt: beganAt.toISOString(), readAtMs: readAt.getTime() };
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
