/** The error of the connection, which fetch hides in its own. */
export const causeOf = (error: unknown): unknown =>
  error instanceof TypeError && error.cause instanceof Error ? error.cause : error;

/** No connection to a part of the service. */
export const isUnreachable = (error: unknown): boolean => {
  const cause = causeOf(error);
  return cause instanceof Error && "code" in cause && ["ECONNREFUSED", "ECONNRESET"].includes(String(cause.code));
};
