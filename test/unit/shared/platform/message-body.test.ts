import { expect, test } from "vitest";
import { messageBody } from "../../../../shared/platform/message-body.ts";

test("a message's text has no character that SQS does not take, and is read as it was", () => {
  const message = { name: "1GB \ufffe\uffff \u{1f600} é" };
  const body = messageBody(message);
  expect(body).toBe('{"name":"1GB \\ufffe\\uffff \\ud83d\\ude00 é"}');
  expect(JSON.parse(body)).toEqual(message);
});
