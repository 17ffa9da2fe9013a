import { createInterface } from "node:readline/promises";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { askFor } from "../../../../tools/init/answers.ts";
import { questions } from "../../../../tools/init/files.ts";

test("what is given is not asked for, and an empty answer takes the example", async () => {
  const [url, account] = questions;
  const asked: string[] = [];
  const question = async (text: string): Promise<string> => {
    asked.push(text);
    return asked.length === 1 ? " eu-west-1 " : "";
  };
  const given = { [url.name]: "https://api.upstream.example/v1", [account.name]: "111122223333" };
  const answers = await askFor(given, { question });
  expect(answers).toEqual({ ...given, region: "eu-west-1", "alarm-email": questions.at(-1)?.example });
  expect(asked).toHaveLength(2);
});

test.each([
  ["Ctrl-C", "\u0003"],
  ["Ctrl-D", "\u0004"],
])("%s ends the questions with a sentence", async (_key, typed) => {
  const input = new PassThrough();
  const asking = askFor({}, createInterface({ input, output: new PassThrough(), terminal: true }));
  input.write(typed);
  await expect(asking).rejects.toThrow("The questions were ended. Nothing was changed.");
});
