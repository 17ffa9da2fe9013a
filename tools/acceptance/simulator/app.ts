import { App } from "aws-cdk-lib";
import { SimulatorStack } from "./stack.ts";

/** The program that `cdk` runs for the simulator of the throw-away stage of `--context stage=NAME`. */
const app = new App();
const stage: unknown = app.node.tryGetContext("stage");
new SimulatorStack(app, String(stage));
app.synth();
