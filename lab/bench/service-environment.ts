import type { FunctionEnvironment } from "../../shared/platform/env.ts";
import { functionEnvironment } from "../../tools/local/function-environment.ts";

/** The variables of every function of the service; a benchmark names what it uses of them. */
export const serviceEnvironment = ({
  upstreamUrl = "https://upstream.invalid/v1",
  awsCalls = "short",
  sqs = { url: () => "http://127.0.0.1/unused" },
}: {
  readonly upstreamUrl?: string;
  readonly awsCalls?: "short" | "sdk";
  readonly sqs?: { readonly url: (queueName: string) => string };
} = {}): FunctionEnvironment =>
  functionEnvironment({
    settings: { awsCalls },
    gatewayOrigin: "https://gateway.invalid",
    upstream: { baseUrl: upstreamUrl, profile: { reference: "all" } },
    sqs,
  });
