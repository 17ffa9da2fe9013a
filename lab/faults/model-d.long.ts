import { longModel } from "./long-model.ts";

longModel("d");
