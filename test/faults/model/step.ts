import fc from "fast-check";
import type { System } from "../system/system.ts";
import type { Caller, Session } from "./session.ts";

type Context<Choice> = {
  readonly session: Session;
  readonly system: System;
  /** One of the two accounts. */
  readonly caller: Caller;
  readonly choice: Choice;
};

/** One kind of step that a program may have. */
type StepKind<Choice, Given, Result> = {
  readonly name: string;
  /** How many of all steps are of this kind, compared with the others. */
  readonly weight: number;
  readonly choices: fc.Arbitrary<Choice>;
  /** What the step is about; undefined where it is not possible, so that nothing happens. */
  readonly given: (context: Context<Choice>) => Given | undefined | Promise<Given | undefined>;
  readonly act: (context: Context<Choice>, given: Given) => Result | Promise<Result>;
  /** What must hold afterwards, beside what `act` checks of its answers. */
  readonly check?: (context: Context<Choice>, given: Given, result: Result) => void | Promise<void>;
};

export type Step = { readonly weight: number; readonly commands: fc.Arbitrary<fc.AsyncCommand<object, Session>> };

/** For steps that are always possible. */
export const always = (): true => true;

export const step = <Choice, Given, Result>(kind: StepKind<Choice, Given, Result>): Step => ({
  weight: kind.weight,
  commands: fc.tuple(fc.constantFrom<0 | 1>(0, 1), kind.choices).map(([index, choice]) => ({
    check: () => true,
    run: async (_model, session) => {
      const context = { session, system: session.system, caller: session.callers[index], choice };
      const given = await kind.given(context);
      if (given === undefined) return;
      // On its own line: `check?.(await act())` would not act where there is no check.
      const result = await kind.act(context, given);
      await kind.check?.(context, given, result);
    },
    toString: () => `${kind.name} by ${index} ${JSON.stringify(choice)}`,
  })),
});

/** Programs of up to this many steps, in the shares that their weights say. */
export const programsOf = (steps: readonly Step[], stepsMax: number) =>
  fc.commands(
    steps.flatMap(({ weight, commands }) => Array.from({ length: weight }, () => commands)),
    { maxCommands: stepsMax, size: "max" },
  );
