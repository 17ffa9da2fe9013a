import { test } from "vitest";
import { runFuzz } from "./fuzz.ts";

const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 1_000_000_000));

test(`50,000 hostile requests are all answered as the interface promises, charge nothing wrongly and leave nothing in the log (seed ${SEED})`, async () => {
  await runFuzz({ requests: 50_000, seed: SEED });
});
