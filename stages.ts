import { defineStages } from "airtime-data-identity-service";

/** What a check of an identity costs your callers, in NGN: the upstream's own prices, or an alarm is raised at each check. */
const identityPrices = {
  nin: { basic: 150, advanced: 250, retrieve: 400 },
  bvn: { basic: 100, advanced: 200, retrieve: 300 },
};

/** The stages: each is a service of its own on AWS. docs/deployment.md, "Settings", lists what a stage can have besides. */
export const stages = defineStages({
  /** For test keys only, so it has no VPC, no NAT gateway and no fixed addresses. It is deployed wherever you sign in. */
  sandbox: {
    /** The upstream's API, with `/v1`. Test keys get simulated answers; only the catalog comes from here. */
    upstreamBaseUrl: "https://upstream.example.com/v1",
    /** The addresses from which the upstream sends its events; empty until it names them. */
    upstreamWebhookIps: [],
    egress: { kind: "none" },
    identityPrices,
  },
  /** Sells. */
  prod: {
    /** The only AWS account and region in which it is deployed, operated and destroyed. */
    account: "000000000000",
    region: "us-east-1",
    upstreamBaseUrl: "https://upstream.example.com/v1",
    upstreamWebhookIps: [],
    /** A VPC with a NAT gateway and a fixed address in each zone: the upstream must whitelist these addresses. */
    egress: { kind: "nat-gateway", zones: ["us-east-1a", "us-east-1b"] },
    identityPrices,
    /** Receives the alarms that need a person at any hour. */
    alarmEmail: "operations@example.com",
    logRetentionDays: 90,
    /** A new version gets 10 percent of the invocations for 10 minutes, and is rolled back if it raises an alarm. */
    release: { kind: "canary", percent: 10, minutes: 10 },
  },
});
