// Written by npm run openapi from docs/openapi.json, with its field names in camel case.
export type PhoneNumber = string;
export type Reference = string;
export type AirtimePurchaseRequest = {
    /** The `code` of a network in the catalog, not case-sensitive. `etisalat` and `t2` mean `9mobile`, `globacom` means `glo`. */
    network: string;
    phoneNumber: PhoneNumber;
    /** NGN, at most 2 decimals; floating-point noise of up to a millionth of a kobo is rounded away. The largest amount is a setting of the deployment. */
    amount: number;
    reference?: Reference;
};
export type BvnAdvancedResult = {
    /** The bank verification number, 11 digits. */
    bvn: string;
    firstName: string;
    lastName: string;
    middleName: string;
    gender: "M" | "F" | "";
    /** `YYYY-MM-DD`, or empty. */
    dateOfBirth: string;
    /** Base64, without a `data:` prefix, or empty. */
    photo: string;
    phoneNumber: string | null;
    email: string | null;
    title: string | null;
    maritalStatus: string | null;
    nationality: string | null;
    residentialAddress: string | null;
    stateOfOrigin: string | null;
    /** Local government area. */
    lgaOfOrigin: string | null;
    /** The bank where the BVN was registered. */
    enrollmentBank: string | null;
    /** `YYYY-MM-DD`. */
    registrationDate: string | null;
    watchListed: boolean | null;
    [key: string]: unknown;
};
export type BvnBasicResult = {
    firstName: string;
    lastName: string;
    middleName: string;
    gender: "M" | "F" | "";
    /** `YYYY-MM-DD`, or empty. */
    dateOfBirth: string;
    phoneNumber: string | null;
};
export type TransactionStatus = "processing" | "success" | "failed";
export type TransactionType = "data" | "airtime" | "nin_verification" | "bvn_verification" | "nin_retrieval" | "bvn_retrieval";
export type IdentityTransaction = {
    /** The operation, for example `NIN Verification`. */
    title: string;
    /** NGN, at most 2 decimals. */
    amount: number;
    /** The service's reference: the kind of order, or `TEST`, then `_` and 26 characters. */
    reference: string;
    status: TransactionStatus;
    "type": TransactionType;
    /** The `reference` that the caller sent; null if it sent none. Compare it with your request: an answer about another order says nothing about yours. */
    callerReference: string | null;
};
export type BvnRetrieveResult = {
    /** The bank verification number, 11 digits. */
    bvn: string | null;
    firstName: string;
    lastName: string;
    middleName: string;
    gender: "M" | "F" | "";
    /** `YYYY-MM-DD`, or empty. */
    dateOfBirth: string;
    phoneNumber: string | null;
};
export type BvnRetrieval = {
    transaction: IdentityTransaction;
    /** Null only while the status is `processing`. */
    result: BvnRetrieveResult | null;
};
export type BvnVerification = {
    transaction: IdentityTransaction;
    /** Null only while the status is `processing`. */
    result: BvnAdvancedResult | BvnBasicResult | null;
};
export type ConsentEvidence = {
    /** How the person consented. */
    method: "otp" | "igree" | "ninauth" | "form" | "app";
    /** The id of the one-time password, authorisation or form. A UUID of a version of RFC 9562, or a text without a number of 10 or more digits. */
    id: string;
    /** When the person consented; not in the future. */
    obtainedAt: string;
    /** The version of the text that the person consented to. */
    textVersion?: string;
};
export type BvnVerifyRequest = {
    /** The bank verification number, 11 digits. */
    bvn: string;
    /** `basic`: name, gender and date of birth. `advanced`: the whole profile, with a photo. Not case-sensitive. */
    mode?: "basic" | "advanced";
    /** The person has consented. Only JSON `true` is accepted. */
    isConsent: true;
    /** Why the person is looked up. It is stored in clear text with the record of the consent and must not contain the request's NIN, BVN or phone number, nor any other number of 10 or more digits. */
    purpose?: string;
    consentEvidence?: ConsentEvidence;
    reference?: Reference;
};
export type CancelRequest = {
    reference: Reference;
    "type": TransactionType;
};
export type Network = {
    /** `network_id` of a data purchase. */
    id: number;
    name: string;
    /** Lower-case network code: `network` of an airtime purchase. */
    code: string;
};
export type DataPlan = {
    /** `plan_id` of a data purchase. */
    id: number;
    /** The `id` of a network in the catalog. */
    networkId: number;
    name: string;
    /** What a purchase debits from the wallet: NGN, at most 2 decimals. */
    price: number;
    /** How long the bundle lasts, as text for people. */
    validity: string;
};
export type Catalog = {
    networks: Network[];
    dataPlans: DataPlan[];
};
export type ChangedPlan = {
    /** `plan_id` of a data purchase. */
    id: number;
    /** The `id` of a network in the catalog. */
    networkId: number;
    name: string;
    /** What a purchase debits from the wallet: NGN, at most 2 decimals. */
    price: number;
    /** The network's display name. */
    network: string;
};
export type RepricedPlan = {
    /** `plan_id` of a data purchase. */
    id: number;
    /** The `id` of a network in the catalog. */
    networkId: number;
    name: string;
    /** What a purchase debits from the wallet: NGN, at most 2 decimals. */
    price: number;
    /** The network's display name. */
    network: string;
    /** The price before: NGN, at most 2 decimals. */
    previousPrice: number;
};
export type CatalogUpdated = {
    event: "catalog.updated";
    data: {
        /** Since when the service sells by this catalog, in UTC. */
        at: string;
        plansAdded: ChangedPlan[];
        plansRemoved: ChangedPlan[];
        plansRepriced: RepricedPlan[];
        networksAdded: Network[];
        networksRemoved: Network[];
        /** How many entries each list would have if it were not cut. */
        counts: {
            plansAdded: number;
            plansRemoved: number;
            plansRepriced: number;
            networksAdded: number;
            networksRemoved: number;
        };
        /** The lists are cut: read the catalog. */
        truncated: boolean;
    };
};
export type DataPurchaseRequest = {
    /** The `id` of a network in the catalog. */
    networkId: number;
    /** The `id` of a plan in the catalog. The plan must belong to the network. */
    planId: number;
    phoneNumber: PhoneNumber;
    /** The price that the caller knows, in NGN. If the plan has another one, the order is refused with `price_changed` and nothing is charged. */
    expectedPrice?: number;
    reference?: Reference;
};
export type LimitNear = {
    event: "limit.near";
    data: {
        /** The account whose endpoint this is. */
        accountId: string;
        /** The key that has the limit; empty for a limit of the whole account. */
        keyId: string;
        /** Which limit: by amount (NGN) or number, of a day or a month. */
        limit: "day_naira" | "month_naira" | "day_orders" | "month_orders";
        /** The limit: NGN, or a number of orders. */
        max: number;
        /** The day (`2026-11-21`) or month (`2026-11`), in the service's time zone. */
        period: string;
    };
};
export type NinAdvancedResult = {
    /** The national identification number, 11 digits. */
    nin: string;
    firstName: string;
    lastName: string;
    middleName: string;
    gender: "M" | "F" | "";
    /** `YYYY-MM-DD`, or empty. */
    dateOfBirth: string;
    /** Base64, without a `data:` prefix, or empty. */
    photo: string;
    phoneNumber: string | null;
    email: string | null;
    title: string | null;
    maritalStatus: string | null;
    nationality: string | null;
    residentialAddress: string | null;
    stateOfOrigin: string | null;
    /** Local government area. */
    lgaOfOrigin: string | null;
    [key: string]: unknown;
};
export type NinBasicResult = {
    firstName: string;
    lastName: string;
    middleName: string;
    gender: "M" | "F" | "";
    /** `YYYY-MM-DD`, or empty. */
    dateOfBirth: string;
};
export type NinRetrieveResult = {
    /** The national identification number, 11 digits. */
    nin: string | null;
    firstName: string;
    lastName: string;
    middleName: string;
    gender: "M" | "F" | "";
    /** `YYYY-MM-DD`, or empty. */
    dateOfBirth: string;
    phoneNumber: string | null;
};
export type NinRetrieval = {
    transaction: IdentityTransaction;
    /** Null only while the status is `processing`. */
    result: NinRetrieveResult | null;
};
export type NinVerification = {
    transaction: IdentityTransaction;
    /** Null only while the status is `processing`. */
    result: NinAdvancedResult | NinBasicResult | null;
};
export type NinVerifyRequest = {
    /** The national identification number, 11 digits; or a virtual NIN of 16 letters and digits, if the service's upstream takes it. */
    nin: string;
    /** `basic`: name, gender and date of birth. `advanced`: the whole profile, with a photo. Not case-sensitive. */
    mode?: "basic" | "advanced";
    /** The person has consented. Only JSON `true` is accepted. */
    isConsent: true;
    /** Why the person is looked up. It is stored in clear text with the record of the consent and must not contain the request's NIN, BVN or phone number, nor any other number of 10 or more digits. */
    purpose?: string;
    consentEvidence?: ConsentEvidence;
    reference?: Reference;
};
export type PurchasedTransaction = {
    /** The service's reference: the kind of order, or `TEST`, then `_` and 26 characters. */
    reference: string;
    status: TransactionStatus;
    /** NGN, at most 2 decimals. */
    amount: number;
    /** The product and the recipient. */
    description: string;
    "type": TransactionType;
    /** The `reference` that the caller sent; null if it sent none. Compare it with your request: an answer about another order says nothing about yours. */
    callerReference: string | null;
    /** The recipient's number. After the retention of the deployment (400 days by default) all but the last two digits are `*`. */
    phoneNumber: string | null;
};
export type Purchase = {
    transaction: PurchasedTransaction;
};
export type RetrieveRequest = {
    phoneNumber: PhoneNumber;
    /** The person has consented. Only JSON `true` is accepted. */
    isConsent: true;
    /** Why the person is looked up. It is stored in clear text with the record of the consent and must not contain the request's NIN, BVN or phone number, nor any other number of 10 or more digits. */
    purpose?: string;
    consentEvidence?: ConsentEvidence;
    reference?: Reference;
};
export type Transaction = {
    /** The service's reference: the kind of order, or `TEST`, then `_` and 26 characters. */
    reference: string;
    status: TransactionStatus;
    /** NGN, at most 2 decimals. */
    amount: number;
    /** The product and the recipient. */
    description: string;
    "type": TransactionType;
    /** The `reference` that the caller sent; null if it sent none. Compare it with your request: an answer about another order says nothing about yours. */
    callerReference: string | null;
    /** The recipient's number; null for identity checks. After the retention of the deployment (400 days by default) all but the last two digits are `*`. */
    phoneNumber: string | null;
    /** The network's display name; null for identity checks. */
    network: string | null;
    /** Why the transaction failed: a code of `X-Error-Code`; null unless the status is `failed`. */
    errorCode: ("invalid_json" | "missing_parameter" | "consent_required" | "insufficient_balance" | "missing_api_key" | "invalid_api_key" | "account_restricted" | "permission_denied" | "ip_not_whitelisted" | "not_found" | "record_not_found" | "validation_failed" | "reference_reused" | "plan_unavailable" | "price_changed" | "possible_duplicate" | "limit_reached" | "order_cancelled" | "rate_limited" | "internal_error" | "delivery_failed" | "provider_unavailable" | "provider_timeout") | null;
    /** Time of creation, in UTC. */
    createdAt: string;
    /** Time of the last change, in UTC. */
    updatedAt: string;
};
export type TransactionLookup = {
    transaction: Transaction;
};
export type TransactionPage = {
    /** Newest first. */
    transactions: Transaction[];
    /** The `cursor` of the next page; null on the last page. */
    nextCursor: string | null;
};
export type TransactionUpdated = {
    event: "transaction.updated";
    data: {
        /** The service's reference: the kind of order, or `TEST`, then `_` and 26 characters. */
        reference: string;
        status: "success" | "failed";
        /** NGN, at most 2 decimals. */
        amount: number;
        "type": TransactionType;
        /** The network's display name; empty for identity checks. */
        network: string;
        /** The recipient's number; empty for identity checks. After the retention of the deployment (400 days by default) all but the last two digits are `*`. */
        phoneNumber: string;
        /** Time of creation, in UTC. */
        createdAt: string;
    };
};
export type Wallet = {
    wallet: {
        currency: "NGN";
        /** NGN, at most 2 decimals. */
        balance: number;
        /** NGN. Balances below this value count as low. Set for the account; null if it is not set. */
        lowBalanceThreshold: number | null;
        /** Time of the last change, in UTC. */
        updatedAt: string;
    };
};
export type WalletLow = {
    event: "wallet.low";
    data: {
        /** The account whose endpoint this is. */
        accountId: string;
        /** NGN, at most 2 decimals. */
        balance: number;
        /** NGN. The balance is below it. */
        threshold: number;
        /** When it was noticed, in UTC. */
        at: string;
    };
};
export type WebhookTest = {
    event: "webhook.test";
    data: {
        /** The account whose endpoint this is. */
        accountId: string;
        /** Time of creation, in UTC. */
        createdAt: string;
    };
};
