import * as z from "#zod";
import { signedHeaders } from "./signed-headers.ts";

const ANSWER_MS_MAX = 10_000;
const account = z.object({ cloudwatchRoleArn: z.nullish(z.string()) });
const refusal = z.object({ message: z.string() });

/**
 * The ARN of the role with which API Gateway writes the access logs of all REST APIs of the account in a region; undefined
 * if there is none. It is the SDK's `GetAccount` without a client of its own. Source: Amazon API Gateway, "GetAccount".
 */
export const readAccessLogRole = async (region: string): Promise<string | undefined> => {
  const endpoint = process.env.AWS_ENDPOINT_URL_API_GATEWAY ?? `https://apigateway.${region}.amazonaws.com`;
  const url = new URL("/account", endpoint);
  const headers = await signedHeaders({ service: "apigateway", region }, url, { method: "GET" });
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(ANSWER_MS_MAX) });
  const answer: unknown = await response.json();
  if (response.ok) return account.parse(answer).cloudwatchRoleArn || undefined;
  throw new Error(`API Gateway answered ${response.status}: ${refusal.safeParse(answer).data?.message}`);
};
