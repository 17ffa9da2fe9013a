/** Crockford's Base32: upper case without I, L, O and U, so a reference can be read out by phone. */
export const BASE32_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** 16 bytes as 26 characters, of which the first has three bits and each other one five. */
export const base32 = (bytes: Buffer): string => {
  let rest = BigInt(`0x${bytes.toString("hex")}`);
  let text = "";
  for (let digit = 0; digit < 26; digit += 1) {
    text = `${BASE32_DIGITS[Number(rest & 31n)]}${text}`;
    rest >>= 5n;
  }
  return text;
};
