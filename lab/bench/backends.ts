import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DynamoDBDocument } from "@aws-sdk/lib-dynamodb";
import { emulatorClientAt } from "../../test/builders/emulator-client.ts";
import { startDynoxide } from "../../tools/local/dynamodb.ts";
import { localAwsEnvironment } from "../../tools/local/local-aws.ts";
import { loadSecrets, startSecretsManager } from "../../tools/local/secrets.ts";
import { temporaryFolder } from "../../tools/usage/temporary-folder.ts";
import { startServer } from "./server-process.ts";

/** What all stacks share: one DynamoDB, one upstream that delivers at once, one Secrets Manager. */
export type Backends = {
  readonly dynamodbEndpoint: string;
  readonly db: DynamoDBDocument;
  readonly upstreamUrl: string;
  readonly upstreamKey: string;
  /** The environment in which SDK clients use them; `dynamodb` replaces the endpoint of DynamoDB. */
  readonly awsEnvironment: (dynamodb?: string) => Readonly<Record<string, string | undefined>>;
  readonly checksumKey: string;
  /** The path of a temporary file. */
  readonly file: (name: string) => string;
  readonly stop: () => Promise<void>;
};

export const openBackends = async (): Promise<Backends> => {
  const folder = temporaryFolder("bench-");
  const file = (name: string): string => join(folder, name);
  const dynamodb = await startDynoxide({ pidFile: file("dynoxide.pid"), logFile: file("dynoxide.log") });
  const secrets = loadSecrets(file("secrets.json"));
  const secretsManager = await startSecretsManager(secrets);
  const upstreamPath = fileURLToPath(new URL("instant-upstream.ts", import.meta.url));
  const upstream = await startServer([upstreamPath], {}, file("upstream.log"));
  const db = emulatorClientAt(dynamodb.endpoint);
  return {
    dynamodbEndpoint: dynamodb.endpoint,
    db,
    upstreamUrl: `${upstream.origin}/v1`,
    upstreamKey: secrets["upstream-key"],
    checksumKey: secrets["checksum-key"],
    awsEnvironment: (endpoint = dynamodb.endpoint) =>
      localAwsEnvironment({ dynamodb: endpoint, sqs: "http://127.0.0.1:9", secretsManager: secretsManager.endpoint }),
    file,
    stop: async () => {
      db.destroy();
      await Promise.all([upstream.stop(), secretsManager.stop(), dynamodb.stop()]);
    },
  };
};
