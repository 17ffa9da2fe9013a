import { routes } from "../../shared/contract/routes.ts";
import { loadFunctions } from "../../tools/local/functions.ts";
import { openGateway } from "../../tools/local/gateway.ts";

const FUNCTIONS = new URL("../../functions/", import.meta.url);

export type ColdGateway = Awaited<ReturnType<typeof openColdGateway>>;

/** A gateway in this process whose functions can be loaded again with empty memory, as in a new Lambda instance. */
export const openColdGateway = async (names: readonly string[]) => {
  const served = Object.values(routes).filter((route) => names.includes(route.function));
  const gateway = await openGateway({ port: 0, routes: served, defaultFunction: "not-found" });
  return {
    baseUrl: `${gateway.origin}/v1`,
    /** Loads the functions again; they read the current environment. */
    begin: async (): Promise<void> => gateway.serve(await loadFunctions(names, FUNCTIONS)),
    close: gateway.close,
  };
};
