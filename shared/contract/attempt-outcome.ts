/** Why a webhook attempt got no usable answer, by the code that is on record. */
const reasons: Readonly<Record<string, string>> = {
  address_refused: "Address not allowed",
  answer_cut_off: "Answer cut off",
  CERT_HAS_EXPIRED: "Certificate expired",
  connection_failed: "Connection failed",
  DEPTH_ZERO_SELF_SIGNED_CERT: "Certificate is self-signed",
  EAI_AGAIN: "Host name could not be resolved",
  ECONNREFUSED: "Connection refused",
  ECONNRESET: "Connection closed without an answer",
  ENODATA: "Host name has no address",
  ENOTFOUND: "No such host",
  EREFUSED: "Host name could not be resolved",
  ERR_TLS_CERT_ALTNAME_INVALID: "Certificate is for another host",
  ESERVFAIL: "Host name could not be resolved",
  ETIMEOUT: "Host name could not be resolved",
  SELF_SIGNED_CERT_IN_CHAIN: "Certificate is self-signed",
  timeout: "No answer in time",
  too_large: "Answer too large",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "Certificate chain is incomplete",
};

/** The reason in words with its code, which an app's developers look up; a code without words stands alone. */
export const reasonText = (code: string): string => {
  const words = reasons[code];
  return words === undefined ? code : `${words} (${code})`;
};

/** How an attempt ended: `Delivered, HTTP 200`, `HTTP 503`, `Connection refused (ECONNREFUSED)`. */
export const attemptText = (outcome: string, httpStatus: number | undefined): string => {
  const words = { delivered: ["Delivered"], status: [] }[outcome] ?? [reasonText(outcome)];
  return [...words, ...(httpStatus === undefined ? [] : [`HTTP ${httpStatus}`])].join(", ");
};
