import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { projectRoot } from "../../infra/bundle/bundle.ts";

/** What a stage runs before it is updated to this tree: the newest release of CHANGELOG.md. */
export const previousRelease = { version: "0.1.0", commit: "0b0b7fb77d804a8b686dd04cf851adcb7367bd5a" } as const;

/** The resources that keep state and that the update deletes, after the steps under "Upgrading". */
export const deletedByUpgrade = [
  "AWS::SQS::Queue ClockDeadLettersCAECD462",
  "AWS::SQS::Queue StatusDeadLetters5DBF8697",
  "AWS::SQS::Queue StatusQueueCCC4F141",
];

/** A shallow clone lacks the commit. */
export const hasPreviousRelease = await promisify(execFile)(
  "git",
  ["cat-file", "-e", `${previousRelease.commit}^{commit}`],
  { cwd: projectRoot },
).then(
  () => true,
  () => false,
);

/** The end of the title of a test that is skipped without the commit. */
export const SKIPPED = "(skipped in a clone without the commit of the previous release: git fetch --unshallow)";
