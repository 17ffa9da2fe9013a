import { Tokenization } from "aws-cdk-lib";
import { SettingsError } from "../settings-error.ts";
import { stageSettings } from "../stage-settings.ts";

/**
 * Names and values together, as the JSON that Lambda measures: each quotation mark of a value counts twice. Sources: AWS Lambda,
 * "Lambda quotas"; the refusal "exceeded the 4KB limit. String measured", as in github-aws-runners/terraform-aws-github-runner 3594.
 */
const VARIABLES_BYTES_MAX = 4_096;
/** The longest name, ARN or URL that CloudFormation inserts, without the name of the stage, by the variable's last word. */
const REFERENCE_BYTES: Readonly<Record<string, number>> = { TABLE: 34, BUCKET: 36, URL: 71, ARN: 83, ID: 101 };
const REFERENCE_BYTES_MAX = Math.max(...Object.values(REFERENCE_BYTES));
/** A host name has several: the id of an API, the region and the domain of AWS. */
const HOST_PART_BYTES = 14;
/** The message names longer settings only. */
const NAMED_BYTES_MIN = 120;

const insertedText = (variable: string, value: string, stage: string): string => {
  const fragments = Tokenization.reverseString(value);
  const bytes = REFERENCE_BYTES[variable.split("_").at(-1) ?? ""] ?? REFERENCE_BYTES_MAX;
  const length = fragments.tokens.length > 1 ? HOST_PART_BYTES : bytes + stage.length;
  return String(
    fragments.mapTokens({ mapToken: () => "x".repeat(length) }).join({ join: (left, right) => `${left}${right}` }),
  );
};

/** `FOUR_EYES` has the setting `fourEyes`. */
const settingOf = (variable: string): string =>
  variable.toLowerCase().replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Throws a SettingsError if Lambda would refuse the variables in the middle of the deployment. */
export const assertRoomFor = (
  environment: Readonly<Record<string, string>>,
  { stage, name }: { readonly stage: string; readonly name: string },
): void => {
  const inserted = Object.entries(environment).map(
    ([variable, value]) => [variable, insertedText(variable, value, stage)] as const,
  );
  const bytes = Buffer.byteLength(JSON.stringify(Object.fromEntries(inserted)));
  if (bytes <= VARIABLES_BYTES_MAX) return;
  const longest = inserted
    .map(([variable, text]) => ({ setting: settingOf(variable), length: Buffer.byteLength(JSON.stringify(text)) }))
    .filter(({ setting, length }) => length >= NAMED_BYTES_MIN && Object.hasOwn(stageSettings.shape, setting))
    .toSorted((one, other) => other.length - one.length)
    .slice(0, 3);
  throw new SettingsError(
    `Stage "${stage}" in stages.ts has too long settings: the variables of ${name} take about ${bytes} bytes, and AWS Lambda allows ${VARIABLES_BYTES_MAX}. Shorten ${longest.map(({ setting, length }) => `${setting} (${length})`).join(", ")}.`,
  );
};
