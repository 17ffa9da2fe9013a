import { EXIT_FAILED } from "../../infra/exit-codes.ts";
import { stackName, stackParts } from "../../infra/outputs.ts";
import { readStages } from "../../infra/read-stages.ts";
import { SettingsError } from "../../infra/settings-error.ts";
import { type StageSettings, type Stages, settingsOf } from "../../infra/stage-settings.ts";
import { type SignInOptions, signIn } from "../aws/sign-in.ts";
import { deployAdministrator, deployStage, destroyStage, type StageCdk } from "./deploy-stage.ts";
import { runCdk } from "./run-cdk.ts";

type Command = {
  readonly defaultStage?: string;
  readonly needsAws: boolean;
  readonly run: (stage: string, settings: StageSettings, cdk: StageCdk) => Promise<number>;
};

/** The npm scripts that run the CDK. Those without a default stage need `--stage`. */
const commands: Readonly<Record<"synth" | "diff" | "deploy" | "destroy", Command>> = {
  synth: { defaultStage: "sandbox", needsAws: false, run: (_stage, _settings, cdk) => cdk("synth", "--quiet") },
  diff: { needsAws: true, run: (_stage, _settings, cdk) => cdk("diff") },
  deploy: { needsAws: true, run: deployStage },
  destroy: { needsAws: true, run: destroyStage },
};

/** The option of `deploy` for the stack that only an administrator deploys. */
const ADMINISTRATOR = "--administrator";

const isCommand = (name: string | undefined): name is keyof typeof commands =>
  name !== undefined && Object.hasOwn(commands, name);

type StageCommandOptions = Pick<SignInOptions, "askCode"> & {
  readonly known?: Stages;
  readonly cdk?: typeof runCdk;
};

/** Runs a command on a stage; resolves with the exit code. Throws a SettingsError only if nothing was changed. */
export const runStageCommand = async (
  [name, ...args]: readonly string[],
  { known, cdk = runCdk, askCode }: StageCommandOptions = {},
): Promise<number> => {
  if (!isCommand(name)) {
    throw new SettingsError(`There is no command "${name}". The commands are ${Object.keys(commands).join(", ")}.`);
  }
  const command = commands[name];
  const { value: stage = command.defaultStage, rest: others } = takeOption("--stage", "a stage in stages.ts", args);
  if (stage === undefined) throw new SettingsError(`Name the stage: npm run ${name} -- --stage NAME.`);
  const { value: profile, rest: options } = takeOption("--profile", "a profile in ~/.aws/config", others);
  const rest = options.filter((option) => option !== ADMINISTRATOR);
  const isAdministrator = rest.length < options.length;
  if (isAdministrator && name !== "deploy") throw new SettingsError(`${ADMINISTRATOR} is an option of deploy only.`);
  // The CDK would take the name, and delete all the same.
  const named = rest.find((option) => stackParts.some((part) => stackName(stage, part) === option));
  if (name === "destroy" && named !== undefined) {
    throw new SettingsError(
      `destroy deletes all stacks of a stage, not ${named} alone. Delete one with the AWS CLI: aws cloudformation delete-stack --stack-name ${named}`,
    );
  }
  const settings = settingsOf(stage, known ?? (await readStages()));
  if (command.needsAws) await signIn({ stage, ...settings }, { profile, ...(askCode && { askCode }) });
  let hasRun = false;
  const stageCdk: StageCdk = (...selection) => {
    hasRun = true;
    // The CDK prints nothing before the functions are built.
    console.error(`Making the templates of stage ${stage}, which takes up to a minute ...`);
    return cdk([...selection, "--context", `stage=${stage}`, ...rest]);
  };
  try {
    return await (isAdministrator ? deployAdministrator : command.run)(stage, settings, stageCdk);
  } catch (error) {
    if (!hasRun || !(error instanceof SettingsError)) throw error;
    console.error(error.message);
    return EXIT_FAILED;
  }
};

/** Extracts `--option VALUE` or `--option=VALUE`; the rest is passed to the CDK's command line. */
const takeOption = (
  option: string,
  what: string,
  args: readonly string[],
): { readonly value: string | undefined; readonly rest: readonly string[] } => {
  const at = args.findIndex((arg) => arg === option || arg.startsWith(`${option}=`));
  if (at === -1) return { value: undefined, rest: args };
  const isJoined = args[at] !== option;
  const value = isJoined ? args[at]?.slice(option.length + 1) : args[at + 1];
  if (!value || value.startsWith("-")) throw new SettingsError(`${option} needs the name of ${what}.`);
  return { value, rest: args.toSpliced(at, isJoined ? 1 : 2) };
};
