import { AIRTIME_NAIRA_MIN } from "../../shared/contract/limits.ts";
import { moneyText } from "../../shared/contract/values/money.ts";
import { CONTROL_PREFIX } from "../simulator/request-handler.ts";
import type { ServiceDetails } from "./service-file.ts";
import type { Settings } from "./settings.ts";

/**
 * The text that a new user reads once the service is ready. Its commands can be pasted as they are. It is made without a
 * request, which would count towards the demo key's limit.
 */
export const welcome = (
  { base_url: url, upstream, accounts, console }: ServiceDetails,
  settings: Pick<Settings, "serviceFile" | "upstream">,
): string => {
  const isSimulated = settings.upstream === undefined;
  const key = accounts[0]?.live_key ?? "";
  const order = {
    network: "mtn",
    phone_number: "08031234567",
    amount: AIRTIME_NAIRA_MIN,
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
    `
Try it in another terminal:
  # List networks and data plans
  curl ${url}/vtu/data ${authorization}

  # Buy airtime${isSimulated ? "" : " with real money"}
  curl ${url}/vtu/airtime/purchase ${authorization} ${json}

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
