import { routes } from "../../shared/contract/routes.ts";
import { loadFunctions } from "../../tools/local/functions.ts";
import { openGateway } from "../../tools/local/gateway.ts";
import { reportTo } from "./server-report.ts";

/** Only the deployed purchase function, behind the local gateway. */
const defaultFunction = "not-found";
const gateway = await openGateway({ port: 0, routes: [routes.buyData], defaultFunction });
gateway.serve(await loadFunctions(["purchase", defaultFunction], new URL("../../functions/", import.meta.url)));
reportTo(gateway.port);
