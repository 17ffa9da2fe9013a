import { paginateScan } from "@aws-sdk/lib-dynamodb";
import { openDynamoDb } from "../../../shared/platform/aws/sdk.ts";
import { SETTINGS_PK, type SimulatorOrder, type SimulatorSettings, simulatorOrder } from "./table.ts";

/** Stores which key the deployed simulator accepts, and where it sends its events. */
export const writeSimulatorSettings = async (table: string, settings: SimulatorSettings): Promise<void> => {
  await openDynamoDb().put({ TableName: table, Item: { pk: SETTINGS_PK, ...settings } });
};

/** Every order that the simulator accepted. */
export const simulatorOrders = async (table: string): Promise<readonly SimulatorOrder[]> => {
  const orders: SimulatorOrder[] = [];
  const pages = paginateScan({ client: openDynamoDb() }, { TableName: table, ConsistentRead: true });
  for await (const { Items = [] } of pages) {
    orders.push(...Items.filter(({ pk }) => pk !== SETTINGS_PK).map((item) => simulatorOrder.parse(item)));
  }
  return orders;
};
