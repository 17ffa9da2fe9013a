import * as z from "zod";

/** What a server tells the benchmark that started it. */
export const report = z.union([
  z.object({ port: z.number() }),
  /** Of all its threads, since it began. */
  z.object({ cpuUs: z.number() }),
]);

/** In the server's process: says where it listens, and afterwards how much CPU time it has used whenever it is asked. */
export const reportTo = (port: number): void => {
  const send = (message: z.input<typeof report>): void => void process.send?.(message);
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    send({ cpuUs: user + system });
  });
  process.on("disconnect", () => process.exit());
  send({ port });
};
