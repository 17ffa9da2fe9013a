import * as z from "#zod";
import { catalogSchema } from "../../shared/contract/catalog.ts";
import { successEnvelope } from "../../shared/contract/envelope.ts";
import { moneyText } from "../../shared/contract/money.ts";
import { CONTROL_PREFIX } from "../simulator/request-handler.ts";
import type { ServiceDetails } from "./service-file.ts";
import type { Settings } from "./settings.ts";

/** The text that a new user reads once the service is ready. Its commands can be pasted as they are. */
export const welcome = async (
  { base_url: url, upstream, accounts, console }: ServiceDetails,
  settings: Pick<Settings, "serviceFile" | "upstream">,
): Promise<string> => {
  const isSimulated = settings.upstream === undefined;
  const key = accounts[0]?.live_key ?? "";
  const plan = await cheapestPlan(url, key);
  const order = {
    network_id: plan?.network_id ?? 1,
    plan_id: plan?.id ?? 1,
    phone_number: "08031234567",
    reference: `try-${Date.now().toString(36)}`,
  };
  const authorization = `-H 'Authorization: Bearer ${key}'`;
  const json = `-H 'Content-Type: application/json' -d '${JSON.stringify(order)}'`;
  return [
    `\nThe service is ready at ${url}. Its documentation is at ${url}/docs.`,
    ...accounts.map(
      ({ name, account_id, balance, test_key, live_key }) => `
Account ${name} (${account_id}) with ${moneyText(balance)}:
  test key  ${test_key}
            simulates outcomes and charges nothing
  live key  ${live_key}
            charges the wallet and orders from ${isSimulated ? "the upstream simulator" : upstream.base_url}`,
    ),
    ...(plan === undefined ? [`\nThe upstream's catalog is not available yet; the service retries every minute.`] : []),
    `
Try it in another terminal:
  # List networks and data plans
  curl ${url}/vtu/data ${authorization}

  # Buy a data bundle${isSimulated ? "" : " with real money"}
  curl ${url}/vtu/data/purchase ${authorization} ${json}

  # Read the wallet
  curl ${url}/wallet ${authorization}
${isSimulated ? simulatorText(upstream.base_url) : ""}
The console is at ${console.url}. Its sign-in page offers a person of each role.

${settings.serviceFile} has these URLs and keys as JSON. Ctrl-C stops the service.
`,
  ].join("\n");
};

const simulatorText = (baseUrl: string): string => `
  # List what the simulator of the upstream can be made to do: lose answers, refuse orders, send events
  curl ${baseUrl.replace(/\/v1$/, CONTROL_PREFIX)}/help
`;

/** The cheapest plan of the service's catalog; undefined while there is no catalog. */
const cheapestPlan = async (url: string, key: string) => {
  const response = await fetch(`${url}/vtu/data`, { headers: { authorization: `Bearer ${key}` } });
  const parsed = z.safeParse(successEnvelope(catalogSchema), await response.json());
  return parsed.data?.data.data_plans.toSorted((one, other) => one.price - other.price)[0];
};
