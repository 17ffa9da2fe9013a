/**
 * A message as JSON that SQS stores as it is: it refuses or replaces U+FFFE and U+FFFF, which a name or reference of the
 * upstream may have. Emulators refuse both halves of a pair too. Source: AWS, SendMessage, "MessageBody".
 */
export const messageBody = (message: unknown): string =>
  JSON.stringify(message).replaceAll(
    /[\ud800-\udfff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16)}`,
  );
