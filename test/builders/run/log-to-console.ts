import { logOutput } from "../../../shared/platform/log.ts";

// The functions' log goes to the console, which Vitest collects for each test and prints of failing ones only.
logOutput.write = (line) => console.log(line);
