import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { SECRET_LENGTH_MIN } from "./secret-length.ts";
import type { Secret } from "./secrets.ts";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export const sealingKey = async (secret: Secret): Promise<Buffer> => {
  const value = await secret.value();
  if (value === undefined || value.length < SECRET_LENGTH_MIN) throw new Error("A sealing key is absent or too short");
  return createHash("sha256").update(value).digest();
};

/** AES-256-GCM: nonce, tag, ciphertext. The owner is authenticated, so a sealed value cannot move to another owner. */
export const seal = (key: Buffer, owner: string, plain: Buffer): Buffer => {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(owner));
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
};

/** Throws if the value was sealed with another key or for another owner, or was modified. */
export const unseal = (key: Buffer, owner: string, sealed: Buffer): Buffer => {
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(owner))
    .setAuthTag(tag);
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
};
