import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  export interface ProvidedContext {
    dynamodbEndpoint: string;
  }
}

/** Starts one DynamoDB emulator, in memory, for all test files; each file makes tables of its own. */
export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const port = await freePort();
  const binary = join(dirname(createRequire(import.meta.url).resolve("@dynoxide/linux-x64/package.json")), "dynoxide");
  const emulator = spawn(binary, ["--host", "127.0.0.1", "--port", String(port)], { stdio: "ignore" });
  const endpoint = `http://127.0.0.1:${port}`;
  await answering(endpoint);
  project.provide("dynamodbEndpoint", endpoint);
  return async () => {
    emulator.kill("SIGKILL");
  };
};

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        typeof address === "object" && address !== null ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });

const answering = async (endpoint: string): Promise<void> => {
  for (let tries = 0; tries < 100; tries += 1) {
    try {
      await fetch(endpoint);
      return;
    } catch {
      await new Promise((wake) => setTimeout(wake, 50));
    }
  }
  throw new Error(`The DynamoDB emulator does not answer at ${endpoint}`);
};
