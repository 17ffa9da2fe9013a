import * as z from "zod";

/** The messages of a server to the benchmark that started it. */
export const report = z.union([
  z.object({ port: z.number() }),
  /** CPU time of all threads since the start. */
  z.object({ cpuUs: z.number() }),
]);

/** Called in the server's process: sends its port, and its CPU time at each request. */
export const reportTo = (port: number): void => {
  const send = (message: z.input<typeof report>): void => void process.send?.(message);
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    send({ cpuUs: user + system });
  });
  process.on("disconnect", () => process.exit());
  send({ port });
};
