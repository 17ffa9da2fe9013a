import { routes } from "../../shared/contract/routes.ts";
import { type Invoke, loadFunctions } from "../../tools/local/functions.ts";
import { openGateway } from "../../tools/local/gateway.ts";

const FUNCTIONS = new URL("../../functions/", import.meta.url);

/** A gateway in this process whose functions can begin again with nothing in memory, as a new one of Lambda's does. */
export type FreshGateway = {
  readonly baseUrl: string;
  /** Loads the functions anew; they read the environment as it is now. */
  readonly begin: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export const openFreshGateway = async (names: readonly string[]): Promise<FreshGateway> => {
  const served = Object.values(routes).filter((route) => names.includes(route.function));
  const gateway = await openGateway({ port: 0, routes: served, defaultFunction: "not-found" });
  return {
    baseUrl: `${gateway.origin}/v1`,
    begin: async () => {
      const invoke: Invoke = await loadFunctions(names, FUNCTIONS);
      gateway.serve(invoke);
    },
    close: gateway.close,
  };
};
