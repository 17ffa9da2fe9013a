import { declareValuePlugin, PluginKind } from "@stryker-mutator/api/plugin";

const LOG_METHODS = new Set(["info", "warn", "error", "alarm"]);
/** Errors whose only argument is a sentence for a person. */
const SPOKEN_ERRORS = new Set(["OperatorError", "OutcomeUnknown"]);

/** Lines that no alarm hangs on: that one is missing is for nobody to notice. */
const QUIET_METHODS = new Set(["info", "warn"]);

const logMethodOf = (node) => {
  if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return undefined;
  const { object, property } = node.callee;
  return object.name === "log" && LOG_METHODS.has(property.name) ? property.name : undefined;
};

const SENTENCE = "an answer's sentence";
const isSentence = (node) => node.type === "ObjectProperty" && node.key.name === "message";

/**
 * Words for people: what a line of the log is called and carries, and the sentences of errors. Most surviving mutants would be about
 * them, and a test that repeats a sentence proves only that it was copied. That an alarm is raised at all is no such word.
 */
const shouldIgnore = ({ node }) => {
  if (logMethodOf(node) !== undefined) return "what the log says";
  if (node.type === "ExpressionStatement" && QUIET_METHODS.has(logMethodOf(node.expression)))
    return "a line of the log";
  if (node.type === "NewExpression" && SPOKEN_ERRORS.has(node.callee.name)) return "an error's sentence";
  if (node.type === "ObjectExpression" && node.properties.length === 1 && isSentence(node.properties[0]))
    return SENTENCE;
  if (isSentence(node)) return SENTENCE;
  return undefined;
};

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, "words", { shouldIgnore })];
