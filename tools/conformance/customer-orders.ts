import type { Order } from "../simulator/state.ts";
import { draws } from "./draws.ts";
import type { Command } from "./protocol.ts";

export type CustomerOrder = {
  /** Unique in the service. */
  readonly number: number;
  readonly priceNaira: number;
  /** Each has its own number, so that its deliveries can be counted. */
  readonly phoneNumber: string;
  /** Of an order whose first attempt has an outcome of its own at the upstream: the number that selects it. */
  readonly firstPhoneNumber: string | undefined;
  readonly kind: "airtime" | "data";
};

/** The upstream reports `success` and `failed` of the first two after some seconds, and refuses the third. */
const SELECTING_NUMBERS = ["08000000002", "08000000003", "08000000005"];
const SELECTING_SHARE = 0.06;

const NETWORK = { name: "MTN", code: "mtn" } as const;
const PLAN = { network_id: 1, plan_id: 101, priceNaira: 500 } as const;
/** By its amount an airtime order is known even if its number is one that selects an outcome. */
const AIRTIME_NAIRA = 100;

export const customerOrders = (seed: number, count: number, firstNumber: number): readonly CustomerOrder[] =>
  Array.from({ length: count }, (_, index) => {
    const number = firstNumber + index;
    const chance = draws(seed, `order ${number}`);
    const isSelecting = chance() < SELECTING_SHARE;
    const kind = isSelecting || chance() < 0.5 ? "airtime" : "data";
    return {
      number,
      kind,
      priceNaira: kind === "data" ? PLAN.priceNaira : AIRTIME_NAIRA + number,
      phoneNumber: `0803${String(number).padStart(7, "0")}`,
      firstPhoneNumber: isSelecting ? SELECTING_NUMBERS[Math.floor(chance() * SELECTING_NUMBERS.length)] : undefined,
    };
  });

export const nameOf = ({ number }: CustomerOrder): string => `kit-${number}`;

/** The command for the order's attempt with a reference of its own, from 1. */
export const commandOf = (order: CustomerOrder, round: number, id: string): Command => {
  const { kind, priceNaira, phoneNumber, firstPhoneNumber } = order;
  const common = {
    id,
    do: "buy",
    reference: `${nameOf(order)}-${round}`,
    phone_number: (round === 1 && firstPhoneNumber) || phoneNumber,
  } as const;
  const { network_id, plan_id } = PLAN;
  return kind === "data"
    ? { ...common, kind, network_id, plan_id }
    : { ...common, kind, network: NETWORK.code, amount: priceNaira };
};

/** True if what was placed at the upstream for this order is what the customer ordered. */
export const isAsOrdered = (
  { kind, priceNaira }: CustomerOrder,
  { type, networkName, amountKobo }: Pick<Order, "type" | "networkName" | "amountKobo">,
): boolean => type === kind && networkName === NETWORK.name && amountKobo === priceNaira * 100;

/** True if an order at the upstream was placed for this one. */
export const isFor = (
  { kind, priceNaira, phoneNumber, firstPhoneNumber }: CustomerOrder,
  placed: Pick<Order, "phoneNumber" | "amountKobo">,
): boolean =>
  placed.phoneNumber === phoneNumber ||
  (kind === "airtime" && placed.phoneNumber === firstPhoneNumber && placed.amountKobo === priceNaira * 100);
