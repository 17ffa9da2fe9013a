import { functionNames } from "../../infra/functions.ts";
import { knownNames, readArguments } from "../usage/arguments.ts";
import { traced } from "./traced.ts";

const { name, line } = readArguments("npm run trace -- FUNCTION 'LOG LINE'", ([given = "", ...words]) => {
  const [named] = knownNames("function", [given], functionNames);
  if (named === undefined || words.length === 0) throw new Error("Give the log line, between quotes.");
  return { name: named, line: words.join(" ") };
});
console.log(await traced(name, line));
