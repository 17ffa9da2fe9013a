import { parkedDeliveries } from "../../test/faults/parked-deliveries.ts";

parkedDeliveries(24 * 60);
