import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { listenOnLoopback } from "../../../../tools/local/loopback.ts";

/** Goal: a proxy of the machine is asked for other hosts, and never for this one. Method: two servers and a process of its own. */
test.each<readonly [environment: Record<string, string>, directly: string]>([
  [{ NODE_USE_ENV_PROXY: "1" }, "127.0.0.1,::1,localhost"],
  [{ NODE_OPTIONS: "--use-env-proxy" }, "127.0.0.1,::1,localhost"],
  [{ NODE_USE_ENV_PROXY: "1", NO_PROXY: "direct.example" }, "direct.example,127.0.0.1,::1,localhost"],
  [
    { NODE_USE_ENV_PROXY: "1", no_proxy: "direct.example", NO_PROXY: "other.example" },
    "direct.example,127.0.0.1,::1,localhost",
  ],
])("with a proxy and %o in the environment this machine is asked directly", async (environment, directly) => {
  const asked: unknown[] = [];
  const service = createServer((_request, response) => void response.end("the service"));
  const proxy = createServer().on("connect", ({ url }, socket) => {
    asked.push(url);
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  onTestFinished(() => {
    for (const each of [service, proxy]) each.close();
  });
  const program = `
    import { reachLoopbackDirectly } from "./tools/usage/loopback-proxy.ts";
    reachLoopbackDirectly();
    const ask = (url) => fetch(url).then((answer) => answer.text(), () => "none");
    console.log(await ask("http://127.0.0.1:${await listenOnLoopback(service)}/"), await ask("http://far.example/"));
    console.log(process.env.no_proxy);`;
  const HTTP_PROXY = `http://127.0.0.1:${await listenOnLoopback(proxy)}`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], {
    env: { PATH: process.env.PATH, HTTP_PROXY, ...environment },
    timeout: 10_000,
  });
  expect(stdout).toBe(`the service none\n${directly}\n`);
  expect(asked).toEqual(["far.example:80"]);
});
