import { Hono } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { logged, refusalOf } from "./shop.ts";
import { buyByPackages } from "./wallet-by-packages.ts";

export const app = new Hono();

app.post("/v1/vtu/data/purchase", async (context) => {
  const startedAtMs = Date.now();
  try {
    return context.json(await buyByPackages(context.req.header("authorization"), await context.req.json()));
  } catch (error) {
    const { status, message } = refusalOf(error);
    context.status(statusOf(status));
    return context.json({ status: false, message });
  } finally {
    logged(context.res.status, startedAtMs);
  }
});

const refused: readonly ContentfulStatusCode[] = [401, 402, 422, 429, 502];
const statusOf = (status: number): ContentfulStatusCode => refused.find((known) => known === status) ?? 500;
