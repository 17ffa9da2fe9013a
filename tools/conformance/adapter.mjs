import { createInterface } from "node:readline";

/** The loop of an adapter (docs/conformance.md): `buy` gets a command and resolves with its answer, without the id. */
export const serve = (buy) => {
  createInterface({ input: process.stdin }).on("line", async (line) => {
    const { id, ...command } = JSON.parse(line);
    process.stdout.write(`${JSON.stringify({ id, ...(await buy(command)) })}\n`);
  });
};
