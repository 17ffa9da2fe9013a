import { Catalog } from "./catalog.ts";
import type {
  AirtimePurchaseRequest,
  BvnAdvancedResult,
  BvnBasicResult,
  BvnRetrieveResult,
  BvnVerifyRequest,
  DataPurchaseRequest,
  NinAdvancedResult,
  NinBasicResult,
  NinRetrieveResult,
  NinVerifyRequest,
  RetrieveRequest,
  Wallet,
} from "./contract-types.ts";
import { OutcomeUnknownError, PlanUnavailableError, PriceChangedError } from "./errors.ts";
import { isRecord } from "./field-names.ts";
import { type Check, check, type Order, type OrderOptions, type PurchaseOptions, purchase } from "./order.ts";
import { type CallOptions, send } from "./send.ts";
import { type ClientOptions, parseSettings } from "./settings.ts";
import { Transactions } from "./transactions.ts";

/** A data bundle: the ids are those of the catalog. */
export type DataOrder = Readonly<Omit<DataPurchaseRequest, "reference">>;
/** An airtime top-up; `amount` is NGN. */
export type AirtimeOrder = Readonly<Omit<AirtimePurchaseRequest, "reference">>;

/** `basic`: name, gender and date of birth. `advanced`: the whole profile. */
export type CheckMode = "basic" | "advanced";
type Verification<Request, Mode extends CheckMode> = Readonly<Omit<Request, "reference" | "mode">> & {
  /** Default `basic`. */
  readonly mode?: Mode;
};
export type NinVerification<Mode extends CheckMode = CheckMode> = Verification<NinVerifyRequest, Mode>;
export type BvnVerification<Mode extends CheckMode = CheckMode> = Verification<BvnVerifyRequest, Mode>;
/** Finds a person by phone number. */
export type Retrieval = Readonly<Omit<RetrieveRequest, "reference">>;

type Extent<Mode extends CheckMode, Basic, Advanced> = Mode extends "advanced" ? Advanced : Basic;

/**
 * A client of the service. One for each API key is enough for a process.
 *
 * Every order has a reference, and each attempt to place it has the same: it is charged and delivered once, however
 * often it is sent.
 */
export class AirtimeClient {
  /** Networks and data plans. */
  readonly catalog: Pick<Catalog, "get">;
  readonly transactions: Transactions;
  readonly data: {
    /** Buys a data bundle. */
    purchase(order: DataOrder, options?: PurchaseOptions): Promise<Order>;
  };
  readonly airtime: {
    /** Buys airtime. */
    purchase(order: AirtimeOrder, options?: PurchaseOptions): Promise<Order>;
  };
  readonly nin: {
    /** Verifies a person by NIN. It is charged if a record is found. */
    verify<Mode extends CheckMode = "basic">(
      check: NinVerification<Mode>,
      options?: OrderOptions,
    ): Promise<Check<Extent<Mode, NinBasicResult, NinAdvancedResult>>>;
    /** Finds a person's NIN by phone number. It needs a key with the permission `identity:retrieve`. */
    retrieve(check: Retrieval, options?: OrderOptions): Promise<Check<NinRetrieveResult>>;
  };
  readonly bvn: {
    /** Verifies a person by BVN. It is charged if a record is found. */
    verify<Mode extends CheckMode = "basic">(
      check: BvnVerification<Mode>,
      options?: OrderOptions,
    ): Promise<Check<Extent<Mode, BvnBasicResult, BvnAdvancedResult>>>;
    /** Finds a person's BVN by phone number. It needs a key with the permission `identity:retrieve`. */
    retrieve(check: Retrieval, options?: OrderOptions): Promise<Check<BvnRetrieveResult>>;
  };
  readonly wallet: {
    /** The prepaid balance. */
    get(options?: CallOptions): Promise<Wallet["wallet"]>;
  };

  constructor(options: ClientOptions) {
    const settings = parseSettings(options);
    const catalog = new Catalog(settings);
    this.catalog = catalog;
    this.transactions = new Transactions(settings);
    this.data = {
      purchase: async (order, options = {}) => {
        const route = { operation: "buyData", path: "/vtu/data/purchase", type: "data" } as const;
        const expectedPrice = settings.expectCatalogPrice ? catalog.priceOf(order.planId) : undefined;
        return purchase(settings, route, { expectedPrice, ...order }, options).catch((error: unknown) => {
          // Of an order that could not be cancelled, the refusal is the cause.
          const refusal = error instanceof OutcomeUnknownError ? error.cause : error;
          if (refusal instanceof PlanUnavailableError || refusal instanceof PriceChangedError) catalog.expire();
          throw error;
        });
      },
    };
    this.airtime = {
      purchase: async (order, options = {}) =>
        purchase(settings, { operation: "buyAirtime", path: "/vtu/airtime/purchase", type: "airtime" }, order, options),
    };
    this.nin = {
      verify: async (request, options = {}) =>
        check(
          settings,
          { operation: "verifyNin", path: "/identity/nin/verify", type: "nin_verification" },
          request,
          options,
        ),
      retrieve: async (request, options = {}) =>
        check(
          settings,
          { operation: "retrieveNin", path: "/identity/nin/retrieve", type: "nin_retrieval" },
          request,
          options,
        ),
    };
    this.bvn = {
      verify: async (request, options = {}) =>
        check(
          settings,
          { operation: "verifyBvn", path: "/identity/bvn/verify", type: "bvn_verification" },
          request,
          options,
        ),
      retrieve: async (request, options = {}) =>
        check(
          settings,
          { operation: "retrieveBvn", path: "/identity/bvn/retrieve", type: "bvn_retrieval" },
          request,
          options,
        ),
    };
    this.wallet = {
      get: async (options = {}) =>
        send(
          settings,
          {
            operation: "getWallet",
            method: "GET",
            path: "/wallet",
            read: ({ data }) => (isRecord(data) && isWallet(data.wallet) ? data.wallet : undefined),
          },
          options,
        ),
    };
  }
}

const isWallet = (value: unknown): value is Wallet["wallet"] => isRecord(value) && typeof value.balance === "number";
