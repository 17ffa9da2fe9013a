import { orderPermissions } from "../permission.ts";
import { airtimePurchaseRequest, dataPurchaseRequest, purchaseResult } from "../purchase.ts";
import { orderErrors, type Routes } from "../route.ts";
import { cancelRequest, transactionLookup } from "../transaction.ts";
import { exampleTransaction, exampleView } from "./examples.ts";

const purchaseDescription =
  "In live mode the price is debited from the wallet first. `processing` means that the outcome is not known yet: do not order " +
  "again, but wait for the `transaction.updated` webhook or look the transaction up.";

/** The routes of the function `purchase`. */
export const purchaseRoutes = {
  buyData: {
    method: "POST",
    path: "/v1/vtu/data/purchase",
    function: "purchase",
    group: "vtu",
    permissions: ["vtu"],
    input: dataPurchaseRequest,
    data: purchaseResult,
    summary: "Buy a data bundle",
    clientMethod: "data.purchase",
    description: purchaseDescription,
    errors: [...orderErrors, "possible_duplicate", "plan_unavailable", "price_changed", "delivery_failed"],
    example: {
      input: { network_id: 1, plan_id: 101, phone_number: "08031234567", reference: "order-1042" },
      message: "The purchase was delivered",
      data: { transaction: exampleTransaction },
    },
  },
  buyAirtime: {
    method: "POST",
    path: "/v1/vtu/airtime/purchase",
    function: "purchase",
    group: "vtu",
    permissions: ["vtu"],
    input: airtimePurchaseRequest,
    data: purchaseResult,
    summary: "Buy airtime",
    clientMethod: "airtime.purchase",
    description: purchaseDescription,
    errors: [...orderErrors, "possible_duplicate", "delivery_failed"],
    example: {
      input: { network: "mtn", amount: 500, phone_number: "08031234567", reference: "order-1043" },
      message: "The purchase was delivered",
      data: {
        transaction: {
          reference: "AIRTIME_HBVAYYCW95KVDWN6QF5T5QWP94",
          status: "success",
          amount: 500,
          description: "MTN airtime for 08031234567",
          type: "airtime",
          caller_reference: "order-1043",
          phone_number: "08031234567",
        },
      },
    },
  },
  cancelOrder: {
    method: "POST",
    path: "/v1/transactions/cancel",
    function: "purchase",
    group: "catalog",
    permissions: orderPermissions,
    input: cancelRequest,
    data: transactionLookup,
    summary: "Cancel an order that is not placed",
    clientMethod: "transactions.cancel",
    description:
      "Makes sure that no request with this `reference` places an order from now on, also no copy of an earlier request that arrives late. " +
      "If no order has the `reference`, it is recorded as `failed`, `order_cancelled`, and nothing was charged. An order that was placed is not changed: " +
      "its `status` is its current one. A lookup that finds nothing cannot say that an order stays unplaced; this can.",
    errors: ["provider_unavailable"],
    example: {
      input: { reference: "order-1044", type: "data" },
      message: "The order is cancelled",
      data: {
        transaction: {
          ...exampleView,
          reference: "DATA_3M8Q1T6W9Y2B5D7F0H4K8N1R3V",
          status: "failed",
          amount: 0,
          description: "Cancelled before it was placed",
          caller_reference: "order-1044",
          network: null,
          phone_number: null,
          error_code: "order_cancelled",
        },
      },
    },
  },
} as const satisfies Routes;
