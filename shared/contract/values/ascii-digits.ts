/** A digit of any other alphabet, and characters that stand for digits, such as `①`. */
const DIGIT = /(?![0-9])[\p{Nd}\p{No}]/gu;

const isDecimal = (codePoint: number): boolean => /^\p{Nd}$/u.test(String.fromCodePoint(codePoint));

/** Unicode has the digits of an alphabet in a row from 0 to 9, and some rows follow one another. */
const digitValue = (digit: string): string => {
  const codePoint = digit.codePointAt(0) ?? 0;
  let first = codePoint;
  while (isDecimal(first - 1)) first -= 1;
  return String((codePoint - first) % 10);
};

/** The text with the digits of other alphabets as ASCII digits: `٣`, `３` and `③` are 3. */
export const asciiDigits = (text: string): string =>
  text.replace(DIGIT, (digit) => digit.normalize("NFKC").replace(/\p{Nd}/gu, digitValue));
