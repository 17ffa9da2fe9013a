/** The example of a purchase, which the examples of the lookup and the list show again. */
export const exampleTransaction = {
  reference: "DATA_7Z9K3QX1V5B8M2N4C6D0F1G3HJ",
  status: "success",
  amount: 500,
  description: "MTN 1GB data for 08031234567",
  type: "data",
  caller_reference: "order-1042",
  phone_number: "08031234567",
};
export const exampleView = {
  ...exampleTransaction,
  network: "MTN",
  error_code: null,
  created_at: "2026-11-21T09:30:00.000Z",
  updated_at: "2026-11-21T09:30:01.200Z",
};
