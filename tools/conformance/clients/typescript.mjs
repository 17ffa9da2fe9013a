import { AirtimeClient, OutcomeUnknownError, ServiceError } from "../../../client/src/index.ts";
import { serve } from "../adapter.mjs";

/** The adapter of the TypeScript client. */
const { AIRTIME_BASE_URL, AIRTIME_API_KEY, AIRTIME_ATTEMPT_TIMEOUT_MS, AIRTIME_TIMEOUT_MS } = process.env;
const client = new AirtimeClient({
  baseUrl: AIRTIME_BASE_URL,
  apiKey: AIRTIME_API_KEY,
  attemptTimeoutMs: Number(AIRTIME_ATTEMPT_TIMEOUT_MS),
  timeoutMs: Number(AIRTIME_TIMEOUT_MS),
});

const purchase = ({ kind, reference, phone_number: phoneNumber, network, amount, network_id, plan_id }) =>
  kind === "data"
    ? client.data.purchase({ networkId: network_id, planId: plan_id, phoneNumber }, { reference })
    : client.airtime.purchase({ network, phoneNumber, amount }, { reference });

serve(async (command) => {
  try {
    const { status, reference } = await purchase(command);
    return { result: status, reference };
  } catch (error) {
    if (error instanceof OutcomeUnknownError) return { result: "unknown" };
    if (error instanceof ServiceError) {
      return { result: "failed", reference: error.transactionReference, error: error.code };
    }
    throw error;
  }
});
