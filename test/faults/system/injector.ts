import { randomUUID } from "node:crypto";
import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { MINUTE_MS } from "../../../shared/contract/values/durations.ts";
import { refusalOf } from "../../strict/faults.ts";
import type { Forward, WireAnswer } from "../../strict/wire.ts";
import { now, outside, type Process, pass, simulate } from "./clock.ts";
import { type Effect, type Fault, isFreezeEffect } from "./effects.ts";
import type { ClientEnd, Serve } from "./network.ts";
import { meet } from "./realities.ts";
import type { StrictAws } from "./strict-aws.ts";

export type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: Buffer };

/** Names a fault that is decided for an effect, and what came of it. */
export type Noted = (process: Process, effect: Effect, what: string) => void;

export type Injector = {
  readonly serve: Serve;
  /**
   * Lets those writes take effect now whose fault was `lands_late`, and that were sent this long ago, each copy of them.
   * Returns how many.
   */
  readonly landLateWrites: (ageMs?: number) => Promise<number>;
  readonly close: () => void;
};

/**
 * The one place where faults happen: it stands between the service and everything outside it. Behind the faults AWS is
 * as `strict` says at that moment.
 */
export const createInjector = (parts: {
  /** The emulator itself, where `strict` is undefined. */
  readonly toDynamoDb: Forward;
  readonly strict: () => StrictAws | undefined;
  /** Half of the time from a request to its answer. */
  readonly latencyMs: () => number;
  readonly happens: (share: number) => boolean;
  readonly note: Noted;
}): Injector => {
  const { toDynamoDb, strict, latencyMs, happens, note } = parts;
  const agent = new Agent({ keepAlive: true });
  /** In the order in which they were sent. */
  const lateWrites: { readonly land: () => Promise<unknown>; readonly sentMs: number }[] = [];
  /** By call: the SDK's own retries of a call get the same fault. */
  const decided = new Map<string, Fault | undefined>();

  const decide = (process: Process, effect: Effect, { headers }: IncomingMessage): Fault | undefined => {
    const call = headers["amz-sdk-invocation-id"]?.toString() ?? randomUUID();
    if (!decided.has(call)) decided.set(call, process.plan(effect));
    return decided.get(call) ?? process.weather(effect);
  };

  const effectOf = ({ place }: ClientEnd, { method, url, headers }: IncomingMessage): Effect => {
    if (place === "receiver") return { place, name: "POST" };
    if (place === "upstream") return { place, name: `${method} ${url}` };
    return { place, name: headers["x-amz-target"]?.toString().split(".")[1] ?? "" };
  };

  /** Sends a request on; undefined if the connection ends without an answer. */
  const forward = (port: number, { method, url: path, headers }: IncomingMessage, body: Buffer, bytes = body.length) =>
    outside(
      () =>
        new Promise<Answer | undefined>((resolve) => {
          const outgoing = httpRequest({ agent, host: "127.0.0.1", port, method, path, headers }, (answer) => {
            const { statusCode: status = 0, headers: answered } = answer;
            bodyOf(answer).then(
              (received) => resolve({ status, headers: answered, body: received }),
              () => resolve(undefined),
            );
          });
          outgoing.once("error", () => resolve(undefined));
          if (bytes === body.length) outgoing.end(body);
          else outgoing.write(body.subarray(0, bytes), () => outgoing.destroy());
        }),
    );

  /** The effect itself, and its answer; undefined if none comes. */
  const perform = async (
    effect: Effect,
    { port }: ClientEnd,
    request: IncomingMessage,
    body: Buffer,
  ): Promise<Answer | undefined> => {
    const { place, name } = effect;
    const aws = strict();
    if (place === "secrets" && aws?.throttlesSecrets()) return awsAnswer(refusalOf("throttled", name, ""));
    if (place !== "dynamodb") return forward(port, request, body);
    if (aws === undefined) return awsAnswer(await toDynamoDb(name, body.toString()));
    const { lost, delayMs, ...answer } = await aws.dynamodb.handle(name, body.toString());
    if (lost) return undefined;
    await pass(delayMs);
    return awsAnswer(answer);
  };

  const serve: Serve = async (client, request, response) => {
    const { process, port } = client;
    const body = await bodyOf(request);
    const effect = effectOf(client, request);
    const fault = decide(process, effect, request);
    const send = (answer: Answer): void => {
      note(process, effect, String(answer.status));
      const {
        "transfer-encoding": _encoding,
        "keep-alive": _alive,
        connection: _connection,
        ...headers
      } = answer.headers;
      response.writeHead(answer.status, { ...headers, "content-length": answer.body.length }).end(answer.body);
    };
    /** It stays silent, or the connection is reset. */
    const lose = (): void => {
      note(process, effect, "lost");
      if (happens(0.5)) client.reset();
    };
    const act = () => perform(effect, client, request, body);

    if (fault !== undefined) note(process, effect, fault);
    if (fault === "dies_before") return process.die();
    if (fault === "dies_writing") {
      meet("a kill in the middle of a socket write");
      process.die();
      await forward(port, request, body, Math.floor(body.length / 2));
      return;
    }
    await pass(latencyMs());
    if (fault === "throttled" || fault === "conflict") {
      const { place, name } = effect;
      const isOfAws = place !== "upstream" && place !== "receiver";
      return send(isOfAws ? awsAnswer(refusalOf(fault, name, body.toString())) : tooMany);
    }
    switch (isFreezeEffect(fault) ? undefined : fault) {
      case undefined: {
        const answer = await act();
        await pass(latencyMs());
        return answer === undefined ? (effect.place === "dynamodb" ? undefined : client.reset()) : send(answer);
      }
      case "dies_after":
        await act();
        return process.die();
      case "never_arrives":
        return lose();
      case "answer_lost":
        await act();
        return lose();
      case "lands_late":
        lateWrites.push({ land: act, sentMs: now() });
        return lose();
    }
  };

  const landLateWrites = async (ageMs = 0): Promise<number> => {
    const later = lateWrites.findIndex(({ sentMs }) => now() - sentMs < ageMs);
    const landing = lateWrites.splice(0, later < 0 ? lateWrites.length : later);
    for (const { land, sentMs } of landing) {
      if (now() - sentMs >= MINUTE_MS) meet("a write that lands a minute late");
      await simulate(land);
    }
    return landing.length;
  };
  return { serve, landLateWrites, close: () => agent.destroy() };
};

/** The whole body. `buffer` of `node:stream/consumers` makes a blob of it, which takes as long as all else of a request. */
const bodyOf = (message: IncomingMessage): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.once("end", () => resolve(Buffer.concat(chunks)));
    message.once("error", reject);
  });

const awsAnswer = ({ status, body }: WireAnswer): Answer => ({
  status,
  headers: { "content-type": "application/x-amz-json-1.0" },
  body: Buffer.from(body),
});

const tooMany: Answer = {
  status: 429,
  headers: { "content-type": "application/json", "retry-after": "30" },
  body: Buffer.from(JSON.stringify({ status: false, message: "Too many requests" })),
};
