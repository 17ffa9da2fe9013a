import * as z from "zod";
import { catalogSchema } from "../../shared/contract/catalog.ts";
import { successEnvelope } from "../../shared/contract/envelope.ts";
import type { ServiceDetails } from "./service-file.ts";

/** A data bundle to try: the cheapest plan of the catalog as the service serves it; undefined while there is none. */
const examplePlan = async (baseUrl: string, key: string) => {
  const response = await fetch(`${baseUrl}/vtu/data`, { headers: { authorization: `Bearer ${key}` } });
  const parsed = z.safeParse(successEnvelope(catalogSchema), await response.json());
  return parsed.data?.data.data_plans.toSorted((one, other) => one.price - other.price)[0];
};

/** What stands on the screen once the service is ready. The commands work when pasted. */
export const welcome = async (details: ServiceDetails, spendsRealMoney: boolean): Promise<string> => {
  const { base_url: url } = details;
  const accounts = details.accounts.map(
    ({ name, account_id, balance, test_key, live_key }) => `
  account   ${name} (${account_id}), ${balance.toLocaleString("en")} NGN
  test key  ${test_key}
  live key  ${live_key}`,
  );
  const key = details.accounts[0]?.live_key ?? "";
  const plan = await examplePlan(url, key);
  const order = {
    network_id: plan?.network_id ?? 1,
    plan_id: plan?.id ?? 1,
    phone_number: "08031234567",
    reference: `try-${Date.now().toString(36)}`,
  };
  const authorized = `-H 'Authorization: Bearer ${key}'`;
  const realMoney = spendsRealMoney ? " (the second one buys at the upstream, with real money)" : "";
  const noCatalog = plan === undefined ? "\nThere is no catalog yet; the upstream is asked again every minute.\n" : "";
  return `
Ready at ${url}
${noCatalog}${accounts.join("\n")}

To try${realMoney}:
  curl ${url}/vtu/data ${authorized}
  curl ${url}/vtu/data/purchase ${authorized} -H 'Content-Type: application/json' -d '${JSON.stringify(order)}'
  curl ${url}/wallet ${authorized}

Ctrl-C ends everything.
`;
};
