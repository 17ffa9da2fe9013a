import { GenerateMacCommand, type KMSClient } from "@aws-sdk/client-kms";
import * as z from "zod";
import { lengthPrefixed } from "../platform/keyed-hashes.ts";

/**
 * A subject's number as it is stored. Who can hash can try all numbers, so the key never leaves KMS, and only
 * `check-identity` may use it.
 */
export type SubjectHash = {
  readonly hash: string;
  /** The id of the key, which is the same for its replica in another region. */
  readonly keyId: string;
};
export type HashSubject = (field: string, number: string) => Promise<SubjectHash>;

const HASH_BYTES = 32;
const answerSchema = z.object({ Mac: z.instanceof(Uint8Array).refine(({ length }) => length === HASH_BYTES) });

/** Hashes numbers with this key of KMS. */
export const subjectHashing = (kms: KMSClient, keyArn: string): HashSubject => {
  const keyId = keyArn.split("/").at(-1) ?? keyArn;
  return async (field, number) => {
    const Message = Buffer.from(lengthPrefixed(["subject", field, number]));
    const answer = await kms.send(new GenerateMacCommand({ KeyId: keyArn, MacAlgorithm: "HMAC_SHA_256", Message }));
    return { hash: Buffer.from(answerSchema.parse(answer).Mac).toString("base64url"), keyId };
  };
};
