/** What a company's own CDK app imports. */
export { AirtimeService, type AirtimeServiceProps } from "./constructs/airtime-service.ts";
