import { DescribeSecretCommand, type SecretsManagerClient } from "@aws-sdk/client-secrets-manager";

/** Whether a secret has a value. Its value is not read, so a reader of the service needs no permission for it. */
export const isSecretSet = async (client: SecretsManagerClient, SecretId: string): Promise<boolean> => {
  const { VersionIdsToStages = {} } = await client.send(new DescribeSecretCommand({ SecretId }));
  return Object.values(VersionIdsToStages).some((stages) => stages.includes("AWSCURRENT"));
};

/** Whether Secrets Manager refused a call because of the operator's permissions. */
export const isDenied = (error: unknown): boolean => error instanceof Error && error.name === "AccessDeniedException";
