import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { projectRoot } from "../../infra/bundle/bundle.ts";
import { SettingsError } from "../../infra/settings-error.ts";
import { settingsOf } from "../../infra/stages.ts";

/** The npm scripts that run the CDK. Those without a default stage need `--stage`. */
const commands = {
  synth: { args: ["synth", "--quiet"], defaultStage: "sandbox", needsAws: false },
  diff: { args: ["diff"], defaultStage: undefined, needsAws: true },
  deploy: { args: ["deploy", "--all"], defaultStage: undefined, needsAws: true },
  destroy: { args: ["destroy", "--all"], defaultStage: undefined, needsAws: true },
} as const;

const isCommand = (name: string | undefined): name is keyof typeof commands =>
  name !== undefined && Object.hasOwn(commands, name);

/** Extracts `--stage NAME` or `--stage=NAME`; the rest is passed to the CDK's command line. */
const splitStage = (args: readonly string[]): { readonly stage: string | undefined; readonly rest: string[] } => {
  const at = args.findIndex((arg) => arg === "--stage" || arg.startsWith("--stage="));
  if (at === -1) return { stage: undefined, rest: [...args] };
  const isJoined = args[at] !== "--stage";
  const stage = isJoined ? args[at]?.slice("--stage=".length) : args[at + 1];
  if (!stage || stage.startsWith("-")) throw new SettingsError("--stage needs the name of a stage in infra/stages.ts.");
  return { stage, rest: args.toSpliced(at, isJoined ? 1 : 2) };
};

/**
 * Fails before anything is built or changed if credentials or a region are missing. Any SDK client can resolve both.
 */
const requireAws = async (): Promise<void> => {
  const { config } = new SecretsManagerClient({});
  const isMissing = (resolve: () => Promise<unknown>): Promise<boolean> =>
    resolve().then(
      () => false,
      () => true,
    );
  if (await isMissing(() => config.credentials())) {
    throw new SettingsError("There are no AWS credentials. Sign in (aws sso login) or set AWS_PROFILE.");
  }
  if (await isMissing(() => config.region())) {
    throw new SettingsError("There is no AWS region. Set AWS_REGION, or a region in your profile.");
  }
};

const runCdk = async (args: readonly string[]): Promise<number> => {
  const tools = join(projectRoot, "node_modules", ".bin");
  const child = spawn(join(tools, "cdk"), args, {
    cwd: projectRoot,
    stdio: "inherit",
    // The app needs the Node version of this project, not the machine's.
    env: { ...process.env, PATH: [tools, process.env.PATH].join(delimiter) },
  });
  const [code] = await once(child, "exit");
  return typeof code === "number" ? code : 1;
};

const main = async ([name, ...args]: readonly string[]): Promise<number> => {
  if (!isCommand(name)) {
    throw new SettingsError(`There is no command "${name}". The commands are ${Object.keys(commands).join(", ")}.`);
  }
  const command = commands[name];
  const { stage = command.defaultStage, rest } = splitStage(args);
  if (stage === undefined) throw new SettingsError(`Name the stage: npm run ${name} -- --stage NAME.`);
  const { egress } = settingsOf(stage);
  if (command.needsAws) await requireAws();
  const code = await runCdk([...command.args, "--context", `stage=${stage}`, ...rest]);
  if (code === 0 && name === "destroy") {
    const addresses = egress.kind === "none" ? "" : ", and the Elastic IPs";
    console.log(
      `Not deleted: the access and ledger tables with their two KMS keys${addresses}. See docs/deployment.md, "Tear down".`,
    );
  }
  return code;
};

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
