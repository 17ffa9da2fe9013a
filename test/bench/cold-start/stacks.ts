import { fileURLToPath } from "node:url";
import type { BuildOptions } from "esbuild";
import { bundleOptions, functionEntry } from "../../../infra/bundle/bundle.ts";
import type { Stack } from "../stacks.ts";

/** A handler as it is deployed to Lambda, and the stack whose tables it uses. */
export type LambdaStack = {
  readonly title: string;
  readonly entry: string;
  readonly bundle: BuildOptions;
  readonly sellsLike: Stack["name"];
};

const { alias: _credentials, inject: _zod, ...asUsual } = bundleOptions;
const peer = (file: string, title: string, sellsLike: Stack["name"]): LambdaStack => ({
  title,
  entry: fileURLToPath(new URL(`../peers/lambda/${file}.ts`, import.meta.url)),
  // The same settings with the SDK bundled, but without the service's replacements for credentials and zod.
  bundle: asUsual,
  sellsLike,
});

export const emptyStack = peer("empty", "a handler that does nothing", "express");
export const lambdaStacks: readonly LambdaStack[] = [
  { title: "this service", entry: functionEntry("purchase"), bundle: bundleOptions, sellsLike: "service" },
  peer("express", "express, serverless-http, wallet by hand", "express"),
  peer("powertools", "Powertools, rate-limiter-flexible", "fastify"),
  peer("hono", "hono, Powertools, rate-limiter-flexible", "hono"),
];
