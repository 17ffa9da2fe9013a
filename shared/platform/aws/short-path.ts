import { HttpRequest, type HttpResponse } from "@smithy/core/protocols";
import type { RetryStrategy, RetryStrategyV2 } from "@smithy/types";
import { readEnv } from "../env.ts";
import { CallHandler, type CallOptions } from "./call-handler.ts";
import { parsedAnswer, textOf } from "./json.ts";
import type { Service } from "./services.ts";
import { requestSigner } from "./signature.ts";
import { standardTarget } from "./standard-target.ts";

type Sdk = typeof import("#aws-sdk");
/** What the short path uses of a client of the SDK. */
type SdkClient = {
  readonly config: {
    readonly systemClockOffset: number;
    readonly retryStrategy: () => Promise<RetryStrategy | RetryStrategyV2>;
  };
};

/** One kind of call of an AWS service. */
export type Call<Input, Output> = (input: Input, options?: CallOptions) => Promise<Output>;

/** The errors that the service expects. The SDK does not send their calls again. */
const EXPECTED_ERRORS: ReadonlySet<string> = new Set([
  "ConditionalCheckFailedException",
  "TransactionCanceledException",
  "ResourceNotFoundException",
]);

/**
 * The calls of one client of a service, signed and sent without the SDK (decision 0025). If an attempt does not end
 * with a 200 or an expected error that can be read, the SDK is loaded, treats this end as that of its own first
 * attempt, and decides what follows. In an unusual environment, or with `AWS_CALLS=sdk`, all calls are the SDK's.
 */
export const callsOf = <Output, Client extends SdkClient>(
  service: Service<Output>,
  open: (sdk: Sdk, handler: CallHandler) => Client,
) => {
  const handler = new CallHandler();
  const target = readEnv(["AWS_CALLS"]).AWS_CALLS === "short" ? standardTarget(service) : undefined;
  const sign = target && requestSigner(target.region, service.id, target.credentials);
  let opened: Client | undefined;
  const sdk = async (): Promise<Client> => {
    const loaded = await import("#aws-sdk");
    opened ??= open(loaded, handler);
    return opened;
  };

  return <Input extends object>(
    operation: string,
    bySdk: (client: Client, input: Input, options: CallOptions) => Promise<Output>,
  ): Call<Input, Output> =>
    async (input, options = {}) => {
      if (target === undefined || sign === undefined) return bySdk(await sdk(), input, { ...options });
      const { protocol, hostname, port, host } = target.endpoint;
      const body = textOf(service.write(input));
      const headers = {
        ...service.headers,
        "x-amz-target": `${service.target}.${operation}`,
        "content-length": String(Buffer.byteLength(body)),
        host,
      };
      const signed = sign(headers, body, Date.now() + (opened?.config.systemClockOffset ?? 0));
      const sent = { ...signed, ...traceHeader() };
      const request = new HttpRequest({ protocol, hostname, method: "POST", path: "/", headers: sent, body });
      if (port !== "") request.port = Number(port);
      const attempt = handler.handle(request, options).then(async ({ response }) => {
        response.body = await wholeBody(response);
        return { response };
      });
      const end = await attempt.then(({ response }) => endOf(service, input, response)).catch(() => undefined);
      if (end?.kind === "failed") throw end.error;
      if (end?.kind === "succeeded") {
        await recordSuccess(opened);
        return end.output;
      }
      // The SDK would throw the same error, also if the body broke off.
      if (options.abortSignal?.aborted) await attempt.catch(() => Promise.reject(aborted()));
      return bySdk(await sdk(), input, { ...options, first: () => attempt });
    };
};

const aborted = (): Error => Object.assign(new Error("Request aborted"), { name: "AbortError" });

/** Lambda's trace of the invocation, by which it also stops endless loops of functions and queues. */
const traceHeader = (): Record<string, string> => {
  const { AWS_LAMBDA_FUNCTION_NAME: onLambda, _X_AMZN_TRACE_ID: trace } = process.env;
  return onLambda && trace ? { "x-amzn-trace-id": trace } : {};
};

const wholeBody = ({ body }: HttpResponse): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    body.on("data", (chunk: Buffer) => chunks.push(chunk));
    body.once("end", () => resolve(Buffer.concat(chunks)));
    body.once("error", reject);
  });

/** The output or the expected error in a response; undefined for another one, and throws if it is no JSON. */
export const endOf = <Output>(
  service: Service<Output>,
  input: object,
  { statusCode, body }: Pick<HttpResponse, "statusCode" | "body">,
) => {
  const answer = parsedAnswer(body.toString());
  if (statusCode === 200) {
    const output = service.read(answer, input);
    return output && ({ kind: "succeeded", output } as const);
  }
  const { __type = "", message, Message, ...fields } = answer;
  const name = String(__type).split("#").at(-1) ?? "";
  if (statusCode !== 400 || !EXPECTED_ERRORS.has(name)) return undefined;
  const $metadata = { httpStatusCode: statusCode, attempts: 1, totalRetryDelay: 0 };
  const error = Object.assign(new Error(message || Message || "UnknownError"), fields, {
    name,
    $fault: "client",
    $metadata,
  });
  return { kind: "failed", error } as const;
};

/** Successes refill the quota of retries of the SDK's client. */
const recordSuccess = async (client: SdkClient | undefined): Promise<void> => {
  const strategy = await client?.config.retryStrategy();
  if (strategy && "recordSuccess" in strategy) strategy.recordSuccess(await strategy.acquireInitialRetryToken(""));
};
