import * as z from "#zod";
import type { KeysClient } from "../platform/aws-clients.ts";
import { lengthPrefixed } from "../platform/keyed-hashes.ts";

/**
 * A subject's number as it is stored. Who can hash can try all numbers, so the key never leaves KMS, and only
 * `check-identity` and `answer-subjects` may use it.
 */
export type SubjectHash = {
  readonly hash: string;
  /** The id of the key, which is the same for its replica in another region. */
  readonly keyId: string;
};
export type HashSubject = (field: string, number: string) => Promise<SubjectHash>;

const HASH_BYTES = 32;
const answerSchema = z.object({ Mac: z.instanceof(Uint8Array).check(z.refine(({ length }) => length === HASH_BYTES)) });

/** Hashes numbers with this key of KMS. */
export const subjectHashing = (kms: KeysClient, keyArn: string): HashSubject => {
  const keyId = keyArn.split("/").at(-1) ?? keyArn;
  return async (field, number) => {
    // A virtual NIN is the same one in small letters.
    const Message = Buffer.from(lengthPrefixed(["subject", field, number.toUpperCase()]));
    const answer = await kms.generateMac({ KeyId: keyArn, MacAlgorithm: "HMAC_SHA_256", Message });
    return { hash: Buffer.from(answerSchema.parse(answer).Mac).toString("base64url"), keyId };
  };
};
