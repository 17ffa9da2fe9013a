import { serve } from "../adapter.mjs";
import { post, reported, sleep } from "./http.mjs";

/** Mistake: an order without an answer in time is reported as failed, so the shop orders it again. */
serve(async (command) => {
  for (;;) {
    try {
      return reported(await post(command));
    } catch (error) {
      if (error.name === "TimeoutError") return { result: "failed", error: "timeout" };
      await sleep(500);
    }
  }
});
