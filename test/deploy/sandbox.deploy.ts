/** What is tested of one deployed sandbox, in one file and in this order, because a deployment takes many seconds. */
import "./sandbox/as-deployed.ts";
import "./sandbox/update.ts";
import "./sandbox/destroy.ts";
import "./sandbox/package.ts";
