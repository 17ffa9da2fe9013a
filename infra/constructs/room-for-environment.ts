import { Tokenization } from "aws-cdk-lib";
import { SettingsError } from "../settings-error.ts";

/**
 * Names and values together, as the JSON that Lambda measures: each quotation mark of a value counts twice. Sources: AWS Lambda,
 * "Lambda quotas"; the refusal "exceeded the 4KB limit. String measured", as in github-aws-runners/terraform-aws-github-runner 3594.
 */
const VARIABLES_BYTES_MAX = 4_096;
/** The mean length of the names, ARNs and URLs that CloudFormation inserts, without the name of the stage. */
const REFERENCE_BYTES = 55;
/** The message names longer values only. */
const NAMED_BYTES_MIN = 100;

const insertedText = (value: string, stage: string): string =>
  String(
    Tokenization.reverseString(value)
      .mapTokens({ mapToken: () => "x".repeat(REFERENCE_BYTES + stage.length) })
      .join({ join: (left, right) => `${left}${right}` }),
  );

/** `FOUR_EYES` has the setting `fourEyes`. */
const settingOf = (variable: string): string =>
  variable.toLowerCase().replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Throws a SettingsError if Lambda would refuse the variables in the middle of the deployment. */
export const assertRoomFor = (
  environment: Readonly<Record<string, string>>,
  { stage, name }: { readonly stage: string; readonly name: string },
): void => {
  const inserted = Object.entries(environment).map(
    ([variable, value]) => [variable, insertedText(value, stage)] as const,
  );
  const bytes = Buffer.byteLength(JSON.stringify(Object.fromEntries(inserted)));
  if (bytes <= VARIABLES_BYTES_MAX) return;
  const longest = inserted
    .map(([variable, text]) => ({ setting: settingOf(variable), length: Buffer.byteLength(JSON.stringify(text)) }))
    .filter(({ length }) => length >= NAMED_BYTES_MIN)
    .toSorted((one, other) => other.length - one.length)
    .slice(0, 3);
  throw new SettingsError(
    `Stage "${stage}" in stages.ts has too long settings: the variables of ${name} take about ${bytes} bytes, and AWS Lambda allows ${VARIABLES_BYTES_MAX}. Shorten ${longest.map(({ setting, length }) => `${setting} (${length})`).join(", ")}.`,
  );
};
