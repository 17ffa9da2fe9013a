import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, join } from "node:path";
import { SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { projectRoot } from "../../infra/bundle/bundle.ts";
import { SettingsError } from "../../infra/settings-error.ts";
import { settingsOf } from "../../infra/stages.ts";

const commands = {
  synth: { args: ["synth", "--quiet"], stage: "sandbox", touchesAws: false },
  diff: { args: ["diff"], stage: undefined, touchesAws: true },
  deploy: { args: ["deploy", "--all"], stage: undefined, touchesAws: true },
  destroy: { args: ["destroy", "--all"], stage: undefined, touchesAws: true },
} as const;

const isCommand = (name: string | undefined): name is keyof typeof commands =>
  name !== undefined && Object.hasOwn(commands, name);

/** Takes `--stage NAME` or `--stage=NAME` out; the rest is for the CDK's own command line. */
const splitStage = (args: readonly string[]): { readonly stage: string | undefined; readonly rest: string[] } => {
  const at = args.findIndex((arg) => arg === "--stage" || arg.startsWith("--stage="));
  if (at === -1) return { stage: undefined, rest: [...args] };
  const isJoined = args[at] !== "--stage";
  const stage = isJoined ? args[at]?.slice("--stage=".length) : args[at + 1];
  if (!stage || stage.startsWith("-")) throw new SettingsError("--stage needs the name of a stage of infra/stages.ts.");
  return { stage, rest: args.toSpliced(at, isJoined ? 1 : 2) };
};

/** Fails before anything is built or changed, rather than in the middle of it. */
const requireAws = async (): Promise<void> => {
  const { config } = new SecretsManagerClient({});
  const lacks = async (part: () => Promise<unknown>): Promise<boolean> =>
    part().then(
      () => false,
      () => true,
    );
  if (await lacks(() => config.credentials())) {
    throw new SettingsError("There are no AWS credentials here. Sign in first (aws sso login), or set AWS_PROFILE.");
  }
  if (await lacks(() => config.region())) {
    throw new SettingsError("There is no AWS region here. Set AWS_REGION, or a region in your profile.");
  }
};

const runCdk = async (args: readonly string[]): Promise<number> => {
  const tools = join(projectRoot, "node_modules", ".bin");
  const child = spawn(join(tools, "cdk"), args, {
    cwd: projectRoot,
    stdio: "inherit",
    // The app needs the Node of this project, and not the machine's.
    env: { ...process.env, PATH: [tools, process.env.PATH].join(delimiter) },
  });
  const [code] = await once(child, "exit");
  return typeof code === "number" ? code : 1;
};

const main = async ([name, ...args]: readonly string[]): Promise<number> => {
  if (!isCommand(name))
    throw new SettingsError(`There is no command "${name}". Known: ${Object.keys(commands).join(", ")}.`);
  const command = commands[name];
  const { stage = command.stage, rest } = splitStage(args);
  if (stage === undefined) throw new SettingsError(`Name the stage: npm run ${name} -- --stage NAME.`);
  const { egress } = settingsOf(stage);
  if (command.touchesAws) await requireAws();
  const code = await runCdk([...command.args, "--context", `stage=${stage}`, ...rest]);
  if (code === 0 && name === "destroy") {
    const addresses = egress.kind === "none" ? "" : " and the elastic IPs";
    console.log(
      `Kept: the access and ledger tables with their two keys${addresses}; docs/deployment.md says what to do with them.`,
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
