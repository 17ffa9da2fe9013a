import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { CallHandler } from "../platform/aws/call-handler.ts";
import { AWS_ATTEMPTS_MAX } from "../platform/time-budgets.ts";
import type { PutCopy } from "./copy-entries.ts";

/**
 * Puts copies into a bucket with Object Lock. A copy that exists is left as it is, so that a batch that is repeated adds no
 * versions, each of which would be locked. A put that meets another one of the same key (409) fails, and its batch is
 * repeated. Sources: Amazon S3, "PutObject", `If-None-Match`; "Object Lock considerations", which requires a checksum.
 */
export const copyBucket = (bucket: string): PutCopy => {
  const s3 = new S3Client({ maxAttempts: AWS_ATTEMPTS_MAX, requestHandler: new CallHandler() });
  return async (key, body) => {
    const command = new PutObjectCommand({
      ...{ Bucket: bucket, Key: key, Body: body, ContentType: "application/json" },
      ...{ ChecksumAlgorithm: "SHA256", IfNoneMatch: "*" },
    });
    try {
      await s3.send(command);
      return true;
    } catch (error) {
      if (error instanceof Error && error.name === "PreconditionFailed") return false;
      throw error;
    }
  };
};
