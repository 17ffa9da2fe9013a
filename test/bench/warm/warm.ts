import { markdownTable } from "../../../tools/docs/markdown.ts";
import { startTestService } from "../../builders/service.ts";
import type { Part } from "../part.ts";
import { quietly } from "../quiet.ts";
import { digits, milliseconds } from "../samples.ts";
import { DELIVERIES, type DeliveryFigures, measureDeliveries } from "./deliveries.ts";
import { type LogFigures, measureLogLines } from "./log-lines.ts";
import { measurePaths, type PathFigures } from "./paths.ts";
import { measureStack, type StackFigures } from "./stack.ts";

export const warm: Part = {
  says: "what the shared handler costs, the catalog, the provider's events, the log and the deliveries; about a minute.",
  measure: async (say) => {
    const stack = await quietly(measureStack);
    say("the handler is measured; the paths are next");
    const { paths, log } = await quietly(inOneService);
    say("the paths and the log are measured; the deliveries are next");
    const deliveries = await measureDeliveries(say);
    return {
      figures: { stack, paths, log, deliveries },
      sections: {
        "warm paths": [stackText(stack), pathsText(paths), logText(log)].join("\n\n"),
        deliveries: deliveriesText(deliveries),
      },
    };
  },
};

const inOneService = async (): Promise<{
  readonly paths: readonly PathFigures[];
  readonly log: readonly LogFigures[];
}> => {
  const service = await startTestService();
  try {
    return { paths: await measurePaths(service), log: await measureLogLines(service) };
  } finally {
    await service.stop();
  }
};

const stackText = ({ overheadUs, partsUs }: StackFigures): string => {
  const rows: readonly (readonly [string, number])[] = [
    ["**the whole, beyond the operation itself**", overheadUs],
    ["middy, with nothing in it", partsUs.middy],
    ["checking the event's shape", partsUs.event],
    ["checking the input", partsUs.input],
    ["checking the answer, and its headers", partsUs.answer],
    ["the log line", partsUs.log],
  ];
  const table = markdownTable([
    ["the shared handler, per request", "µs"],
    ...rows.map(([part, us]) => [part, digits(us)]),
  ]);
  return `${table}

A purchase's event through the handler of all API functions, with nobody to ask for the key and an operation that does nothing: no I/O, and code that is warm. The parts are measured by themselves and leave out what joins them; the budget is 10 µs.`;
};

const pathsText = (paths: readonly PathFigures[]): string => {
  const rows = paths.map(({ title, durationMs: { p50, p99 }, dynamodbCalls }) => [
    title,
    milliseconds(p50),
    milliseconds(p99),
    String(dynamodbCalls),
  ]);
  return `${markdownTable([["request", "p50", "p99", "DynamoDB calls"], ...rows])}

One request at a time at the local gateway, over loopback; "read from the table" is a function's first request, with a new connection and nothing in memory, but without Lambda's own start. The provider's event is answered once the queue has it.`;
};

const logText = (log: readonly LogFigures[]): string => {
  const rows = log.map(({ title, lines, bytes, bytesMax }) => [title, String(lines), String(bytes), String(bytesMax)]);
  return markdownTable([["log, per request", "lines", "bytes", "budget"], ...rows]);
};

const deliveriesText = (deliveries: readonly DeliveryFigures[]): string => {
  const rows = deliveries.map(({ endpoints, perSecond }) => [String(endpoints), digits(perSecond)]);
  return `${markdownTable([["endpoints", "deliveries a second"], ...rows])}

${DELIVERIES} deliveries wait in the queue; all endpoints are healthy and answer at once. The local service is one process with 50 places; on AWS each place is a function's instance, and there are more the longer the queue is.`;
};
