import { randomUUID } from "node:crypto";
import { serve } from "../adapter.mjs";
import { post, reported, sleep } from "./http.mjs";

/** Mistake: each attempt has a new reference, so an attempt whose answer was lost is paid besides the next one. */
serve(async (command) => {
  for (;;) {
    try {
      return reported(await post({ ...command, reference: randomUUID() }));
    } catch {
      await sleep(500);
    }
  }
});
