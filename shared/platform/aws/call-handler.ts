import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import type { HttpHandlerOptions } from "@smithy/types";
import { AWS_CONNECT_MS_MAX, AWS_RESPONSE_MS_MAX } from "../time-budgets.ts";
import { tlsContext } from "../tls-context.ts";

type Request = Parameters<NodeHttpHandler["handle"]>[0];
type Answer = Awaited<ReturnType<NodeHttpHandler["handle"]>>;
export type CallOptions = Pick<HttpHandlerOptions, "abortSignal"> & {
  /** The end of an attempt that was made already: the first attempt of the call is not sent, but ends like it. */
  first?: (() => Promise<Answer>) | undefined;
};

/** Sends the requests of one client, its own ones and the SDK's. */
export class CallHandler extends NodeHttpHandler {
  constructor() {
    super({
      connectionTimeout: AWS_CONNECT_MS_MAX,
      // Ends with the response's headers; `socketTimeout` ends a body that does not come.
      requestTimeout: AWS_RESPONSE_MS_MAX,
      socketTimeout: AWS_RESPONSE_MS_MAX,
      throwOnRequestTimeout: true,
      // Emulators have no TLS.
      httpAgent: endingIdle(new HttpAgent(POOL)),
      httpsAgent: endingIdle(new HttpsAgent(POOL), () => ({ secureContext: tlsContext() })),
    });
  }

  /** The SDK passes the options of a call on to each of its attempts. */
  override handle(request: Request, options: CallOptions = {}): Promise<Answer> {
    const { first } = options;
    delete options.first;
    return first?.() ?? super.handle(request, options);
  }
}

/** The SDK's own values. */
const POOL = { keepAlive: true, maxSockets: 50 } as const;

/**
 * When one connection ends, the agent ends the idle ones, which probably ended for the same reason unnoticed. A NAT
 * gateway, for example, forgets a connection after 350 s and resets it only when it is used. So a retry always gets a
 * new connection, and a freeze never takes both attempts of a call. Source: AWS, "Troubleshoot NAT gateways", "Internet
 * connection drops after 350 seconds".
 */
const endingIdle = (agent: HttpAgent, connectOptions = (): object => ({})): HttpAgent => {
  const connect = agent.createConnection;
  const endIdle = (): void => {
    for (const idle of Object.values(agent.freeSockets)) for (const socket of idle ?? []) socket.destroy();
  };
  return Object.assign(agent, {
    createConnection: (...[options, ...rest]: Parameters<typeof connect>) =>
      connect.call(agent, { ...options, ...connectOptions() }, ...rest)?.once("close", endIdle),
  });
};
