import { AsyncLocalStorage } from "node:async_hooks";
import { Client } from "@smithy/core/client";
import * as z from "#zod";
import { runningFunction } from "../../../tools/local/functions.ts";

/** A call of an AWS client of this process: `DynamoDB`, `GetItem` and its input. */
export type SdkCall = { readonly service: string; readonly operation: string; readonly input: unknown };

/** The answers of services that have no emulator, by operation: some depend on the input. */
export type CannedAnswers = Readonly<Record<string, object | ((input: Readonly<Record<string, unknown>>) => unknown)>>;

type Recording = { readonly canned: CannedAnswers; readonly onCall: (call: SdkCall) => void };

const client = z.object({ config: z.object({ serviceId: z.string() }) });
const recording = new AsyncLocalStorage<Recording>();
const inputOfCall = z.record(z.string(), z.unknown());
const answerOf = async (canned: CannedAnswers[string] | undefined, input: unknown): Promise<unknown> =>
  typeof canned === "function" ? canned(inputOfCall.parse(input)) : canned;
const operationOf = (command: object): string => command.constructor.name.replace(/Command$/, "");
let onFunctionCall: ((functionName: string, call: SdkCall) => void) | undefined;
const sdkSend = Client.prototype.send;
const send = function (this: unknown, ...args: readonly unknown[]): unknown {
  const [command] = args;
  const { canned, onCall } = recording.getStore() ?? {};
  const running = onFunctionCall && runningFunction.getStore();
  if (!(command instanceof Object) || (onCall ?? running) === undefined) return Reflect.apply(sdkSend, this, args);
  const operation = operationOf(command);
  const { serviceId } = client.parse(this).config;
  const call = { service: serviceId, operation, input: Reflect.get(command, "input") };
  if (running !== undefined) onFunctionCall?.(running.name, call);
  onCall?.(call);
  return canned && Object.hasOwn(canned, operation)
    ? answerOf(canned[operation], call.input)
    : Reflect.apply(sdkSend, this, args);
};
Reflect.set(Client.prototype, "send", send);

/**
 * Runs `work`, and passes on each call that it makes to AWS. Operations with a canned answer are not sent. Calls that
 * other parts of this process make at the same time, such as the functions of a local service, are left out.
 */
export const recordCalls = <Result>(options: Recording, work: () => Promise<Result>): Promise<Result> =>
  recording.run(options, work);

/** Passes on each call that functions of this process make by the SDK from now on, by their names. */
export const recordFunctionCalls = (listener: (functionName: string, call: SdkCall) => void): void => {
  onFunctionCall = listener;
};

/** Passes on a call of DynamoDB that is made without the SDK. False if it has a canned answer, which the SDK's way returns. */
export const recordDirectCall = (command: object): boolean => {
  const { canned, onCall } = recording.getStore() ?? {};
  const operation = operationOf(command);
  if (canned && Object.hasOwn(canned, operation)) return false;
  onCall?.({ service: "DynamoDB", operation, input: Reflect.get(command, "input") });
  return true;
};
