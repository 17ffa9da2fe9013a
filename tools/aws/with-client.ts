/** Works with a client of the SDK, and closes its connections then. */
export const withClient = async <Client extends { readonly destroy: () => void }, Result>(
  client: Client,
  work: (client: Client) => Promise<Result>,
): Promise<Result> => {
  try {
    return await work(client);
  } finally {
    client.destroy();
  }
};

/** Whether AWS refused a call because of the caller's permissions. */
export const isDenied = (error: unknown): boolean => error instanceof Error && error.name === "AccessDeniedException";
