import { serve } from "../adapter.mjs";
import { post, reported, sleep } from "./http.mjs";

/**
 * The retry rule without its last parts. Mistakes: an error code is final, although a copy of the request may still be
 * on its way; and whatever is answered is taken for the answer to this order.
 */
serve(async (command) => {
  for (;;) {
    try {
      return reported(await post(command));
    } catch {
      await sleep(500);
    }
  }
});
