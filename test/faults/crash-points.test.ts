import { crashPoints } from "./crash-points.ts";

/** The deaths of a process; `npm run test:faults` adds every other fault. */
crashPoints(["dies_before", "dies_after"], () => {});
