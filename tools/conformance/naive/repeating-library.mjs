import { serve } from "../adapter.mjs";
import { post, reported, sleep } from "./http.mjs";

/** As some HTTP libraries do by default: a request without an answer, or with a 5xx, is sent again. */
const repeatingFetch = async (url, init) => {
  for (let left = 3; ; left -= 1) {
    try {
      const response = await fetch(url, init);
      if (response.status < 500 || left === 0) return response;
    } catch (error) {
      if (left === 0) throw error;
    }
    await sleep(200);
  }
};

/** Mistake: the order has no reference, and the library below repeats its POST. */
serve(async ({ reference: _, ...command }) => {
  try {
    return reported(await post(command, repeatingFetch));
  } catch {
    return { result: "unknown" };
  }
});
