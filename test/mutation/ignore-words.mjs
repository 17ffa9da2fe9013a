import { declareValuePlugin, PluginKind } from "@stryker-mutator/api/plugin";

const LOG_METHODS = new Set(["info", "warn", "error", "alarm"]);
/** Errors whose only argument is a sentence for a person. */
const SPOKEN_ERRORS = new Set(["OperatorError", "OutcomeUnknown"]);

/**
 * Words for people: what a line of the log is called and carries, and the sentences of errors. Half of all surviving mutants would
 * be about them, and a test that repeats a sentence proves only that it was copied.
 */
const shouldIgnore = ({ node }) => {
  if (node.type === "CallExpression" && node.callee.type === "MemberExpression") {
    const { object, property } = node.callee;
    if (object.name === "log" && LOG_METHODS.has(property.name)) return "what the log says";
  }
  if (node.type === "NewExpression" && SPOKEN_ERRORS.has(node.callee.name)) return "an error's sentence";
  if (node.type === "ObjectProperty" && node.key.name === "message") return "an answer's sentence";
  return undefined;
};

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, "words", { shouldIgnore })];
