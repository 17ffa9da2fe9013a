import { queues } from "../../../infra/queues.ts";
import { startTestService } from "../../../test/builders/service/service.ts";
import { markdownTable, wrap } from "../../../tools/markdown/markdown.ts";
import type { Part } from "../part.ts";
import { digits, milliseconds } from "../statistics.ts";
import { targetTable } from "../targets.ts";
import { withoutLogs } from "../without-logs.ts";
import { DELIVERIES, type DeliveryResults, measureDeliveries } from "./deliveries.ts";
import { type HandlerResults, measureHandler } from "./handler.ts";
import { measurePaths, type PathResults } from "./paths.ts";

/** The budget of the shared handler for one request. */
const HANDLER_US_MAX = 10;

export const warm: Part = {
  description: "measures the shared handler, the catalog, upstream events and the deliveries; about a minute",
  measure: async (report) => {
    const handler = await withoutLogs(measureHandler);
    report("the handler is measured; the paths are next");
    const paths = await withoutLogs(pathsOfOneService);
    report("the paths are measured; the deliveries are next");
    const deliveries = await measureDeliveries(report);
    return {
      sections: {
        "handler target": handlerTarget(handler),
        "warm paths": [handlerText(handler), pathsText(paths)].join("\n\n"),
        deliveries: deliveriesText(deliveries),
      },
    };
  },
};

const pathsOfOneService = async (): Promise<readonly PathResults[]> => {
  const service = await startTestService();
  try {
    return await measurePaths(service);
  } finally {
    await service.stop();
  }
};

const handlerTarget = ({ overheadUs }: HandlerResults): string =>
  targetTable("shared handler of the API functions", [
    { title: "µs per request", bound: "at most", limit: String(HANDLER_US_MAX), measured: digits(overheadUs) },
  ]);

const handlerText = ({ overheadUs, partsUs }: HandlerResults): string => {
  const rows: readonly (readonly [string, number])[] = [
    ["**the whole, without the operation**", overheadUs],
    ["middy without middleware", partsUs.middy],
    ["parsing the event", partsUs.event],
    ["parsing the input", partsUs.input],
    ["validating the response, and its headers", partsUs.answer],
    ["the log line", partsUs.log],
  ];
  const table = markdownTable([["shared handler, per request", "µs"], ...rows.map(([part, us]) => [part, digits(us)])]);
  return `${table}

${wrap(`The event of a purchase is passed to the handler that all API functions share, with an operation that does nothing
    and without I/O. The parts are measured separately and do not add up to the whole.`)}`;
};

const pathsText = (paths: readonly PathResults[]): string => {
  const rows = paths.map(({ title, durationMs: { p50, p99 }, dynamodbCalls }) => [
    title,
    milliseconds(p50),
    milliseconds(p99),
    String(dynamodbCalls),
  ]);
  return `${markdownTable([["request", "p50", "p99", "DynamoDB calls"], ...rows])}

${wrap(`One request at a time, over loopback. A first request has a new connection and empty memory, but not Lambda's
    own start. An upstream event is answered once the queue has it.`)}`;
};

const deliveriesText = (deliveries: readonly DeliveryResults[]): string => {
  const rows = deliveries.map(({ endpoints, perSecond }) => [String(endpoints), digits(perSecond)]);
  return `${markdownTable([["endpoints", "deliveries/s"], ...rows])}

${wrap(`${DELIVERIES} deliveries wait in the queue, and all endpoints respond at once. The local service is one process that
    handles ${queues.delivery.concurrencyMax} batches of ${queues.delivery.batchSize} concurrently; AWS scales with the length of the queue, up to the stage's maxConcurrency.`)}`;
};
