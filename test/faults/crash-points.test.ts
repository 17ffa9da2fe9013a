import { crashPoints } from "./crash-points.ts";

/** A death before an effect is one after the effect before it; `npm run test:faults` adds it, and every other fault. */
crashPoints(["dies_after"], () => {});
