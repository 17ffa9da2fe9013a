/** What the naive clients have in common: one request. Its errors are those of `fetch` and of `JSON.parse`. */
const { AIRTIME_BASE_URL, AIRTIME_API_KEY, AIRTIME_ATTEMPT_TIMEOUT_MS } = process.env;

/** The request of a command, without `kind`. */
export const post = async ({ kind, ...body }, fetcher = fetch) => {
  const response = await fetcher(`${AIRTIME_BASE_URL}/vtu/${kind}/purchase`, {
    method: "POST",
    headers: { authorization: `Bearer ${AIRTIME_API_KEY}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(Number(AIRTIME_ATTEMPT_TIMEOUT_MS)),
  });
  return { response, text: await response.text(), code: response.headers.get("x-error-code") };
};

/** The answer to the kit. Throws if the service has not answered, or asks to come again. */
export const reported = ({ response, text, code }) => {
  if (response.headers.has("retry-after")) throw new Error("Too early");
  if (code) return { result: "failed", error: code };
  const { reference, status } = JSON.parse(text).data.transaction;
  return { result: status, reference };
};

export const sleep = (delayMs) => new Promise((wake) => setTimeout(wake, delayMs));
