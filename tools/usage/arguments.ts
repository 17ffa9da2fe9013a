import { EXIT_REFUSED } from "../../infra/exit-codes.ts";

export const asksForHelp = (args: readonly string[]): boolean => args.includes("--help") || args.includes("-h");

/**
 * What a command was given. With `--help` or `-h`, and with what `read` refuses by an error, the process ends here and says how
 * the command is called.
 */
export const readArguments = <Given>(usage: string, read: (args: readonly string[]) => Given): Given => {
  const args = process.argv.slice(2);
  if (asksForHelp(args)) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return read(args);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\nUsage: ${usage}`);
    process.exit(EXIT_REFUSED);
  }
};

/** A number in digits: JavaScript reads an empty text as 0, and `1e3` as a thousand. */
export const wholeNumber = (name: string, text: string, min: number, max: number): number => {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new Error(`${name} must be a whole number from ${min} to ${max}.`);
};

/** The names that were given, if all of them are known. */
export const knownNames = <Name extends string>(
  kind: string,
  given: readonly string[],
  known: readonly Name[],
): readonly Name[] =>
  given.map((text) => {
    const name = known.find((each) => each === text);
    if (name === undefined) throw new Error(`There is no ${kind} "${text}". Known: ${known.join(", ")}.`);
    return name;
  });

/** The option that was given, if it is one of these; undefined without one. */
export const onlyOption = <Option extends string>(
  args: readonly string[],
  ...known: readonly Option[]
): Option | undefined => {
  const [option, ...others] = knownNames("option", args, known);
  if (others.length > 0) throw new Error("Give one option at a time.");
  return option;
};
