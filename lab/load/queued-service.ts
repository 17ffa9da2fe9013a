import { SEND_QUEUED_RESERVE_MS } from "../../shared/platform/time-budgets.ts";
import { startService } from "../../tools/local/service.ts";
import { parseSettings } from "../../tools/local/settings.ts";
import { STARTED } from "./service-process.ts";
import { shortMinute } from "./short-minute.ts";

/** `npm start` for an upstream with short minutes: queued orders are sent as often. No webhooks are sent. */
const { ms: everyMs, sendingMs } = shortMinute;
const sender = { everyMs, timeoutMs: SEND_QUEUED_RESERVE_MS + sendingMs };

const service = await startService({ ...parseSettings([], process.env), sender, sendsWebhooks: false });
process.once("SIGTERM", () => void service.stop().finally(() => process.exit(0)));
process.stdout.write(STARTED);
