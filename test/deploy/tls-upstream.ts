import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { handleRequest, VERSION_PREFIX } from "../../tools/simulator/request-handler.ts";
import { type Simulator, type SimulatorOptions, startSimulator } from "../../tools/simulator/server.ts";
import { selfSigned } from "../builders/self-signed.ts";

/** The simulator behind HTTPS, which every stage's upstream must have. */
export type TlsUpstream = {
  readonly baseUrl: string;
  readonly state: Simulator["state"];
  /** What a process needs to trust its certificate. */
  readonly trust: { readonly NODE_EXTRA_CA_CERTS: string };
  readonly stop: () => Promise<void>;
};

export const startTlsUpstream = async (options: SimulatorOptions): Promise<TlsUpstream> => {
  const simulator = await startSimulator(options);
  const tls = selfSigned();
  const folder = mkdtempSync(join(tmpdir(), "upstream-"));
  const certificate = join(folder, "certificate.pem");
  writeFileSync(certificate, tls.cert);
  const server = createServer(tls, (request, response) => void handleRequest(simulator.state, request, response));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = z.object({ port: z.number() }).parse(server.address());
  return {
    baseUrl: `https://localhost:${port}${VERSION_PREFIX}`,
    state: simulator.state,
    trust: { NODE_EXTRA_CA_CERTS: certificate },
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await simulator.stop();
      rmSync(folder, { recursive: true });
    },
  };
};
