import { test } from "vitest";
import { runFuzz } from "./fuzz.ts";

const SEED = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 1_000_000_000));

test(`50,000 hostile requests get responses of the interface, charge nothing wrongly and leave no personal data in the log (seed ${SEED})`, async () => {
  await runFuzz({ requests: 50_000, seed: SEED });
});
