import type { Page } from "playwright-core";
import * as z from "#zod";

const traceEvents = z.array(
  z.object({
    name: z.string(),
    pid: z.int(),
    tid: z.int(),
    /** CPU time of the thread, in microseconds. */
    tdur: z.optional(z.number()),
    args: z.optional(z.looseObject({ name: z.optional(z.string()) })),
  }),
);

/**
 * The CPU time of each task of the page's main thread while `act` runs, in milliseconds. Other work on the machine hardly
 * changes it, unlike the time on the clock.
 */
export const taskCpuMs = async (page: Page, act: () => Promise<unknown>): Promise<readonly number[]> => {
  const devtools = await page.context().newCDPSession(page);
  const events: z.infer<typeof traceEvents> = [];
  devtools.on("Tracing.dataCollected", ({ value }) => events.push(...traceEvents.parse(value)));
  const traceConfig = { excludedCategories: ["*"], includedCategories: ["disabled-by-default-devtools.timeline"] };
  await devtools.send("Tracing.start", { transferMode: "ReportEvents", traceConfig });
  await act();
  // The task that answers `act` has ended once another one runs; one that ends after the trace would be missing.
  await page.evaluate("new Promise((next) => setTimeout(next))");
  const complete = new Promise<void>((done) => devtools.once("Tracing.tracingComplete", () => done()));
  await devtools.send("Tracing.end");
  await complete;
  await devtools.detach();
  const threadOf = ({ pid, tid }: { readonly pid: number; readonly tid: number }) => `${pid}/${tid}`;
  const isMain = new Set(events.filter(({ args }) => args?.name === "CrRendererMain").map(threadOf));
  const tasks = events.filter((event) => event.name === "RunTask" && isMain.has(threadOf(event)));
  // A task that began before the trace, or ends after it, has no time.
  const cpuMs = tasks.flatMap(({ tdur }) => (tdur === undefined ? [] : [tdur / 1_000]));
  if (cpuMs.length === 0) throw new Error("The trace has no task of the main thread");
  return cpuMs;
};

/** Compiles code, parses, builds elements and lays them out, as a first load does. */
const REFERENCE_WORK = `(() => {
  const rows = Array.from({ length: 2_000 }, (_, number) => ({ number, name: "Row " + number }));
  const code = rows.map(({ number }) => "(function (x) { return [x, " + number + "].map(String); })(1);").join("");
  new Function(code)();
  for (let time = 0; time < 20; time += 1) JSON.parse(JSON.stringify(rows));
  const table = document.createElement("table");
  for (const { number, name } of rows) {
    const row = table.insertRow();
    row.insertCell().textContent = String(number);
    row.insertCell().textContent = name;
  }
  document.body.append(table);
  const heightPx = table.offsetHeight;
  table.remove();
  return heightPx;
})()`;

/** The CPU time of a fixed work in the page, in milliseconds: what a limit of CPU time is compared with on any machine. */
export const referenceCpuMs = async (page: Page): Promise<number> =>
  (await taskCpuMs(page, () => page.evaluate(REFERENCE_WORK))).reduce((sum, taskMs) => sum + taskMs, 0);
