import { parseConsoleSettings } from "../../shared/console/console-settings.ts";
import { pagesHandler } from "../../shared/console/pages-handler.ts";
import { functionEnvironments, readEnv } from "../../shared/platform/env.ts";
import { consoleFiles } from "./console-files.ts";

const env = readEnv(functionEnvironments["serve-console"]);

/** The pages of the console. */
export const handler = pagesHandler(consoleFiles, parseConsoleSettings(env.CONSOLE));
