import { HOUR_MS, MINUTE_MS } from "../../../shared/contract/values/durations.ts";
import type { Wait } from "../context.ts";
import { deleteSecret, deleteTable, secretsOf, tablesOf } from "../left-behind.ts";
import { AcceptanceError, assertThat, found, type Outcome } from "../outcome.ts";
import { deleteStack, existingStack, stackNames, TAG } from "../stacks.ts";

const DELETED_MS_MAX = HOUR_MS;
const LISTED_MS_MAX = 2 * MINUTE_MS;
const POLL_MS = 2_000;

/**
 * Deletes the stage, its simulator and what a stage's deletion leaves behind. Refuses everything that lacks the tag.
 */
export const cleanUp = async (stage: string, wait: Wait): Promise<Outcome> => {
  const names: string[] = [];
  for (const name of stackNames(stage)) {
    const stack = await existingStack(name);
    if (stack === undefined) continue;
    // A stack in review has only a change set, and nothing else yet.
    const isOwn =
      stack.StackStatus === "REVIEW_IN_PROGRESS" ||
      stack.Tags?.some(({ Key, Value }) => Key === TAG && Value === stage);
    assertThat(isOwn === true, `The stack ${name} was not made by this command and is left alone`);
    names.push(name);
  }
  for (const name of names) await untilDeleted(name, wait);
  const tables = await tablesOf(stage);
  for (const table of tables) await deleteTable(table, wait);
  const secrets = await secretsOf(stage);
  for (const secret of secrets) await deleteSecret(secret);
  await untilNothingIsLeft(stage, wait);
  if (names.length + tables.length + secrets.length === 0) return found(`there is nothing of stage "${stage}"`);
  return found(
    `deleted ${names.length} stacks, ${tables.length} tables and ${secrets.length} secrets that they leave behind`,
  );
};

const untilDeleted = async (name: string, wait: Wait): Promise<void> => {
  const untilMs = Date.now() + DELETED_MS_MAX;
  let isAccepted = false;
  for (;;) {
    isAccepted ||= await deleteStack(name);
    const stack = await existingStack(name);
    if (stack === undefined) return;
    const { StackStatus, StackStatusReason = "" } = stack;
    if ((isAccepted && StackStatus === "DELETE_FAILED") || Date.now() > untilMs) {
      throw new AcceptanceError(`The stack ${name} is ${StackStatus}: ${StackStatusReason}`);
    }
    await wait(POLL_MS, `the deletion of ${name}`);
  }
};

/** AWS may list for some moments what was deleted. */
const untilNothingIsLeft = async (stage: string, wait: Wait): Promise<void> => {
  for (const untilMs = Date.now() + LISTED_MS_MAX; ; ) {
    const left = [...(await tablesOf(stage)), ...(await secretsOf(stage))];
    if (left.length === 0) return;
    assertThat(Date.now() < untilMs, `not deleted: ${left.join(", ")}`);
    await wait(POLL_MS, "AWS to list what was deleted no longer");
  }
};
