import { parkedDeliveries } from "./parked-deliveries.ts";

/** `npm run test:faults` has a day. */
parkedDeliveries(72);
