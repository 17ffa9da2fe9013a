import { declareValuePlugin, PluginKind } from "@stryker-mutator/api/plugin";

const LOG_METHODS = new Set(["info", "warn", "error", "alarm"]);
/** Errors whose only argument is a sentence for people. */
const SENTENCE_ERRORS = new Set(["OperatorError", "OutcomeUnknown"]);

/** Lines without an alarm, whose absence no test needs to notice. */
const QUIET_METHODS = new Set(["info", "warn"]);

const logMethodOf = (node) => {
  if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return undefined;
  const { object, property } = node.callee;
  return object.name === "log" && LOG_METHODS.has(property.name) ? property.name : undefined;
};

const SENTENCE = "an answer's sentence";
const isSentence = (node) => node.type === "ObjectProperty" && node.key.name === "message";

/**
 * Ignores prose: the name and fields of a log line, and the sentences of errors. Most surviving mutants would be in
 * them, and a test that repeats a sentence shows only that it was copied. Whether an alarm is raised is not ignored.
 */
const shouldIgnore = ({ node }) => {
  if (logMethodOf(node) !== undefined) return "the content of a log line";
  if (node.type === "ExpressionStatement" && QUIET_METHODS.has(logMethodOf(node.expression))) return "a log line";
  if (node.type === "NewExpression" && SENTENCE_ERRORS.has(node.callee.name)) return "an error's sentence";
  if (node.type === "ObjectExpression" && node.properties.length === 1 && isSentence(node.properties[0]))
    return SENTENCE;
  if (isSentence(node)) return SENTENCE;
  return undefined;
};

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, "words", { shouldIgnore })];
