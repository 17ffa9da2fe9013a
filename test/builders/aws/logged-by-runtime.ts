/**
 * What Lambda's Node runtime logs of an error that an invocation rejects with: its message, its stack, and every
 * property of its own. Source: aws/aws-lambda-nodejs-runtime-interface-client, `Errors.js`, toFormatted.
 */
export const loggedByRuntime = (error: unknown): string =>
  JSON.stringify(error, (_key, value: unknown) =>
    value instanceof Error
      ? { errorType: value.name, errorMessage: value.message, ...value, stack: value.stack?.split("\n") }
      : value,
  );

/** What a promise rejects with; it must not resolve. */
export const rejectionOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => Promise.reject(new Error("It resolved")),
    (error: unknown) => error,
  );
