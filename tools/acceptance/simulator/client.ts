import { paginateScan } from "@aws-sdk/lib-dynamodb";
import { openDynamoDb } from "../../../shared/platform/aws/sdk.ts";
import {
  ORDER_PREFIX,
  type ReceivedWebhook,
  type Receiver,
  receiver,
  receiverPk,
  SETTINGS_PK,
  type SimulatorOrder,
  type SimulatorSettings,
  simulatorOrder,
} from "./table.ts";

/** Stores which key the deployed simulator accepts, and where it sends its events. */
export const writeSimulatorSettings = async (table: string, settings: SimulatorSettings): Promise<void> => {
  await openDynamoDb().put({ TableName: table, Item: { pk: SETTINGS_PK, ...settings } });
};

/** Every order that the simulator accepted. */
export const simulatorOrders = async (table: string): Promise<readonly SimulatorOrder[]> => {
  const orders: SimulatorOrder[] = [];
  const pages = paginateScan({ client: openDynamoDb() }, { TableName: table, ConsistentRead: true });
  for await (const { Items = [] } of pages) {
    const found = Items.filter(({ pk }) => String(pk).startsWith(ORDER_PREFIX));
    orders.push(...found.map((item) => simulatorOrder.parse(item)));
  }
  return orders;
};

/** Makes the receiver at the address with this token, for the endpoint with this secret. */
export const writeReceiver = async (table: string, token: string, secret: string): Promise<void> => {
  const made: Receiver = { secret, received: [] };
  await openDynamoDb().put({ TableName: table, Item: { pk: receiverPk(token), ...made } });
};

/** Every webhook that came to a receiver, in order. */
export const receivedWebhooks = async (table: string, token: string): Promise<readonly ReceivedWebhook[]> => {
  const Key = { pk: receiverPk(token) };
  const { Item } = await openDynamoDb().get({ TableName: table, Key, ConsistentRead: true });
  return receiver.parse(Item).received;
};
