import { sqsClient } from "../../shared/platform/aws.ts";
import { functionEnvironments, readEnv } from "../../shared/platform/env.ts";
import { streamHandler } from "../../shared/platform/stream-handler.ts";
import { announceStatus } from "../../shared/webhook/announce-status.ts";
import { deliveryQueue } from "../../shared/webhook/delivery-queue.ts";

const env = readEnv(functionEnvironments["announce-status"]);

/** Reads the ledger's stream: an end of a transaction becomes a message of the delivery queue. */
export const handler = streamHandler(announceStatus(deliveryQueue(sqsClient(), env.DELIVERY_QUEUE_URL)));
