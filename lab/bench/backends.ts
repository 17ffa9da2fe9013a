import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { emulatorClientAt } from "../../test/builders/dynamodb/emulator-client.ts";
import { startDynoxide } from "../../tools/local/dynoxide.ts";
import { localAwsEnvironment } from "../../tools/local/local-aws.ts";
import { loadSecrets, startSecretsManager } from "../../tools/local/secrets.ts";
import { temporaryFolder } from "../../tools/usage/temporary-folder.ts";
import { startServer } from "./server-process.ts";

export type Backends = Awaited<ReturnType<typeof openBackends>>;

/** What all stacks share: one DynamoDB, one upstream that delivers at once, one Secrets Manager. */
export const openBackends = async () => {
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
    /** The environment in which SDK clients use them; `endpoint` replaces that of DynamoDB. */
    awsEnvironment: (endpoint = dynamodb.endpoint) =>
      localAwsEnvironment({ dynamodb: endpoint, sqs: "http://127.0.0.1:9", secretsManager: secretsManager.endpoint }),
    /** The path of a temporary file. */
    file,
    stop: async (): Promise<void> => {
      db.destroy();
      await Promise.all([upstream.stop(), secretsManager.stop(), dynamodb.stop()]);
    },
  };
};
