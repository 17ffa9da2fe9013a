import { afterAll, afterEach, expect } from "vitest";
import { takeDeniedCalls } from "./evaluated-calls.ts";

const expectNoneDenied = (): void => expect(takeDeniedCalls(), "calls that a function's role denies").toEqual([]);
afterEach(expectNoneDenied);
// What functions do between tests, too.
afterAll(expectNoneDenied);
