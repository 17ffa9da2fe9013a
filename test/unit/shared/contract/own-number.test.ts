import { describe, expect, test } from "vitest";
import { bvnVerifyRequest, ninVerifyRequest } from "../../../../shared/contract/identity.ts";
import { airtimePurchaseRequest, dataPurchaseRequest } from "../../../../shared/contract/purchase.ts";

const order = { network_id: 1, plan_id: 101, phone_number: "08031234567" };
const topUp = { network: "mtn", phone_number: "08031234567", amount: 100 };
const MESSAGE = "Must not contain the request's NIN, BVN or phone number: it is stored in clear text";

describe("a purchase", () => {
  test.for(["08031234567", "order-0803-123-4567", "2348031234567", "8031234567.1"])(
    "a purchase whose reference contains the recipient's phone number is invalid in its reference: %s",
    (reference) => {
      const refused = [{ path: ["reference"], message: MESSAGE }];
      expect(dataPurchaseRequest.safeParse({ ...order, reference }).error?.issues).toMatchObject(refused);
      expect(airtimePurchaseRequest.safeParse({ ...topUp, reference }).error?.issues).toMatchObject(refused);
    },
  );
});

test.for(["08031234568", "803123456", "order-1042"])(
  "a purchase for 08031234567 may have the reference %s",
  (reference) => {
    expect(dataPurchaseRequest.parse({ ...order, reference })).toEqual({ ...order, reference });
  },
);

test("a purchase with an invalid phone number is invalid in its phone number only", () => {
  for (const phoneNumber of ["", "1", "order"]) {
    const { error } = dataPurchaseRequest.safeParse({ ...order, phone_number: phoneNumber, reference: "order-1" });
    expect(error?.issues.map(({ path }) => path)).toEqual([["phone_number"]]);
  }
});

test("an identity request is invalid in every stored field that contains its NIN or BVN", () => {
  const stored = { is_consent: true, purpose: "check 123 4567 8901", reference: "12345678901-a" };
  for (const { error } of [
    ninVerifyRequest.safeParse({ nin: "12345678901", ...stored }),
    bvnVerifyRequest.safeParse({ bvn: "12345678901", ...stored }),
  ]) {
    expect(new Set(error?.issues.map(({ path }) => path[0]))).toEqual(new Set(["purpose", "reference"]));
  }
});
