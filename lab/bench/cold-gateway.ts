import { routes } from "../../shared/contract/routes.ts";
import { type Invoke, loadFunctions } from "../../tools/local/functions.ts";
import { openGateway } from "../../tools/local/gateway.ts";

const FUNCTIONS = new URL("../../functions/", import.meta.url);

/** A gateway in this process whose functions can be loaded again with empty memory, as in a new Lambda instance. */
export type ColdGateway = {
  readonly baseUrl: string;
  /** Loads the functions again; they read the current environment. */
  readonly begin: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export const openColdGateway = async (names: readonly string[]): Promise<ColdGateway> => {
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
