import { createHmac, scryptSync } from "node:crypto";
import {
  DescribeSecretCommand,
  PutSecretValueCommand,
  ResourceExistsException,
  type SecretsManager,
} from "@aws-sdk/client-secrets-manager";
import { OperatorError } from "../../shared/platform/operator-error.ts";

/** Whether a secret has a value. Its value is not read, so a reader of the service needs no permission for it. */
export const isSecretSet = async (client: SecretsManager, SecretId: string): Promise<boolean> => {
  const stages = await stagesOf(client, SecretId);
  return [...stages.values()].some(isCurrent);
};

const stagesOf = async (client: SecretsManager, SecretId: string): Promise<ReadonlyMap<string, readonly string[]>> => {
  const { VersionIdsToStages = {} } = await client.send(new DescribeSecretCommand({ SecretId }));
  return new Map(Object.entries(VersionIdsToStages));
};
const isCurrent = (stages: readonly string[] | undefined): boolean => stages?.includes("AWSCURRENT") === true;

/** How often one value is set again after others. */
const IDS = 10;

/**
 * The ids that versions with this value get, one after the other. So a value is compared with the current one although the
 * person may not read that. The hash is slow, because who may describe a secret sees the id.
 */
const idsOf = (SecretId: string, value: string): readonly string[] => {
  const key = scryptSync(value, SecretId, 32);
  return Array.from({ length: IDS }, (_, number) => createHmac("sha256", key).update(String(number)).digest("hex"));
};

export const isCurrentValue = async (client: SecretsManager, SecretId: string, value: string): Promise<boolean> => {
  const stages = await stagesOf(client, SecretId);
  return idsOf(SecretId, value).some((id) => isCurrent(stages.get(id)));
};

/**
 * Makes this the current value. AWS ignores a put of a version that exists, and does not list one that is neither the
 * current nor the previous one: then the next id is taken. A put without an answer may be made: a person who rotates again
 * would end the value before, which the upstream still uses.
 */
export const setSecret = async (client: SecretsManager, SecretId: string, value: string): Promise<void> => {
  for (const ClientRequestToken of idsOf(SecretId, value)) {
    const put = new PutSecretValueCommand({ SecretId, SecretString: value, ClientRequestToken });
    const failure: unknown = await client.send(put).then(
      () => undefined,
      (error: unknown) => error,
    );
    const stages = await stagesOf(client, SecretId).catch((error: unknown) => {
      const cause = failure ?? error;
      throw new Error(
        `The secret may be set or not (${cause instanceof Error ? cause.name : String(cause)}). Before you rotate it again, see when it was changed last: aws secretsmanager describe-secret`,
        { cause },
      );
    });
    if (isCurrent(stages.get(ClientRequestToken))) return;
    if (failure !== undefined) throw failure;
  }
  throw new Error("The secret has had this value too often: set another one");
};

/**
 * Makes this the current value, in the place of the one that was read. Two people may add to one value at the same moment, and
 * a laptop may sleep between read and put: then the value that is put second lacks what the first one added. The put of one
 * value has one version id, under which AWS takes no other value. Source: AWS Secrets Manager, "PutSecretValue".
 */
export const replaceSecret = async (
  client: SecretsManager,
  SecretId: string,
  read: string,
  value: string,
): Promise<void> => {
  const [ClientRequestToken] = idsOf(SecretId, `after ${read}`);
  try {
    await client.send(new PutSecretValueCommand({ SecretId, SecretString: value, ClientRequestToken }));
  } catch (error) {
    if (!(error instanceof ResourceExistsException)) throw error;
    throw new OperatorError("Another person has changed the secret since it was read: it was not set", {
      cause: error,
    });
  }
};
