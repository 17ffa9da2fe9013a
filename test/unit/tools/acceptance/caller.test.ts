import { expect, test } from "vitest";
import { addressIn, buyAirtime, DELIVERED, finalStatus } from "../../../../tools/acceptance/caller.ts";
import { acceptanceStage } from "../../../builders/aws/acceptance-stage.ts";
import { answers, startScriptedServer, succeeds } from "../../../builders/network/scripted-server.ts";

/** Goal: a step of a stage that is wrongly set up fails with what the stage answered, not with how long it took. */

const order = { reference: "order-1", phoneNumber: DELIVERED };

test("an order that is refused for a time each time fails with the last answer", async () => {
  const unavailable = answers(503, {}, { "x-error-code": "provider_unavailable", "retry-after": "0" });
  const { baseUrl, received } = await startScriptedServer(unavailable);
  await expect(buyAirtime(acceptanceStage({ baseUrl }), "live_1", order)).rejects.toThrow(
    "The order order-1 was answered 503 provider_unavailable, the last of 8 times",
  );
  expect(new Set(received.map(({ body }) => body)).size).toBe(1);
});

test("a refusal for good is the result of the order", async () => {
  const { baseUrl } = await startScriptedServer(answers(403, {}, { "x-error-code": "ip_not_whitelisted" }));
  expect(await buyAirtime(acceptanceStage({ baseUrl }), "live_1", order)).toEqual({ code: "ip_not_whitelisted" });
});

test("a lookup that is refused fails at once, and one that says success ends the wait", async () => {
  const { baseUrl, received } = await startScriptedServer(
    succeeds({ transaction: { reference: "AIRTIME_1", status: "success" } }),
    answers(403, {}, { "x-error-code": "ip_not_whitelisted" }),
  );
  const lookUp = () => finalStatus(acceptanceStage({ baseUrl }), "live_1", "AIRTIME_1");
  expect(await lookUp()).toBe("success");
  await expect(lookUp()).rejects.toThrow("A lookup of AIRTIME_1 was answered 403 ip_not_whitelisted");
  expect(received).toHaveLength(2);
});

test("a refusal that names this machine's address says which it is, and the text of any other answer is in the failure", async () => {
  const answered = (message: string) => addressIn(Response.json({ message }, { status: 403 }));
  expect(await answered("The IP address 203.0.113.7 is not whitelisted")).toBe("203.0.113.7");
  await expect(answered("Forbidden")).rejects.toThrow(
    'A call from an unknown address was answered 403 {"message":"Forbidden"}, and not 403 with that address',
  );
});
