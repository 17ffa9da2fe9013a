import { parseConsoleSettings } from "../../shared/console/console-settings.ts";
import { pagesHandler } from "../../shared/console/pages-handler.ts";
import { readEnv } from "../../shared/platform/env.ts";
import { serveConsoleSpec } from "../specs.ts";
import { consoleFiles } from "./console-files.ts";

const env = readEnv(serveConsoleSpec.environment);

/** The pages of the console. */
export const handler = pagesHandler(consoleFiles, parseConsoleSettings(env.CONSOLE));
