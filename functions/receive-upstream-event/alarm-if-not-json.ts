import { ServiceError } from "../../shared/contract/errors.ts";
import type { ApiMiddleware } from "../../shared/lambda/api-handler.ts";
import { log } from "../../shared/platform/log.ts";

/**
 * Raises an alarm when an admitted request has a body that is not a JSON object. It is refused, because a later
 * copy may be readable; but if the upstream has changed its format, no event arrives any more.
 */
export const alarmIfNotJson: ApiMiddleware = {
  onError: ({ error, context: { progress } }) => {
    if (progress !== undefined && error instanceof ServiceError && error.code === "invalid_json") {
      log.alarm("upstream_event.refused", { request_id: progress.requestId });
    }
  },
};
