import { randomUUID } from "node:crypto";
import { serve } from "../adapter.mjs";
import { post, reported, sleep } from "./http.mjs";

/** Mistake: a body that cannot be parsed is taken for an order that was not placed, and it is ordered anew. */
serve(async (command) => {
  for (let reference = command.reference; ; await sleep(500)) {
    try {
      return reported(await post({ ...command, reference }));
    } catch (error) {
      if (error instanceof SyntaxError) reference = randomUUID();
    }
  }
});
