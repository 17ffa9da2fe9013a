/** The setting `console` of a stage, for people of a provider that does not exist. */
export const aConsole = {
  issuer: "https://login.example.com/",
  clientId: "console",
  operatorGroup: "airtime-operators",
  readerGroup: "airtime-readers",
};

/** Settings with which a stage has every function: a console, a copy of the audit log, and an upstream that can be asked for an order. */
export const everyFunction = {
  console: aConsole,
  auditCopy: { days: 400 },
  upstreamProfile: {
    reference: "all",
    lookup: { path: "/transactions/{reference}", our_reference: "client_reference" },
  },
} as const;
