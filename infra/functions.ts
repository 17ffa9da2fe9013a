import type { FunctionSpec, Trigger } from "../functions/function-spec.ts";
import { functionSpecs } from "../functions/specs.ts";

type Specs = typeof functionSpecs;
export type FunctionName = keyof Specs;
type NameWith<Part> = { [Name in FunctionName]: Specs[Name] extends Part ? Name : never }[FunctionName];
export type ScheduledFunction = NameWith<{ readonly invokedBy: { readonly kind: "schedule" } }>;

export const functionNames: readonly FunctionName[] = Object.keys(functionSpecs).filter(
  (name): name is FunctionName => name in functionSpecs,
);

export const specOf = (name: FunctionName): FunctionSpec => functionSpecs[name];

/** The functions that exist only in a stage with a console. */
export const consoleFunctions = functionNames.filter((name) => specOf(name).needsConsole);

/** The functions of a stage: with or without a console, an upstream that can be asked, and a copy of the audit log. */
export const functionNamesOf = ({
  console,
  auditCopy,
  upstreamProfile: { lookup, balance },
}: {
  readonly console?: unknown;
  readonly auditCopy?: unknown;
  readonly upstreamProfile: { readonly lookup?: unknown; readonly balance?: unknown };
}): readonly FunctionName[] =>
  functionNames.filter((name) => {
    const { needsConsole, asksUpstream, copiesAudit } = specOf(name);
    return (
      (console !== undefined || !needsConsole) &&
      ((lookup ?? balance) !== undefined || !asksUpstream) &&
      (auditCopy !== undefined || !copiesAudit)
    );
  });

/** The function that a queue, a stream or the default route invokes. Each has one. */
export const invokedBy = (invokes: (trigger: Trigger) => boolean): FunctionName => {
  const [found, ...others] = functionNames.filter((name) => invokes(specOf(name).invokedBy));
  if (found === undefined || others.length > 0)
    throw new Error("A queue, stream or default route invokes one function");
  return found;
};

/** The function of requests that match no route. */
export const defaultFunction = invokedBy(({ kind }) => kind === "default-route");
