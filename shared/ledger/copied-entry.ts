/**
 * Where the copy of an audit entry is: `acc_0123456789abcdef01/0000000001/HASH`. The key alone says which entry had which
 * place, so that a list of keys is compared with the table. An entry under one hash is never written again.
 */
export type CopiedEntry = { readonly auditLog: string; readonly sequence: string; readonly hash: string };

/** Whatever else is put under a key of the audit table is in no log of the service, and would be no key of an object. */
const AUDIT_LOG = /^\w{1,100}$/;

/** Undefined for an entry of no log. */
export const copyKey = ({ auditLog, sequence, hash }: CopiedEntry): string | undefined =>
  AUDIT_LOG.test(auditLog) ? `${auditLog}/${sequence}/${hash}` : undefined;

export const copiedEntry = (key: string): CopiedEntry => {
  const [auditLog = "", sequence = "", hash = ""] = key.split("/");
  return { auditLog, sequence, hash };
};
