import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import type { GetConnInfo } from "hono/conninfo";
import { HTTPException } from "hono/http-exception";
import { ipRestriction } from "hono/ip-restriction";
import { findKey, type KeyItem, logged, orderSchema, refusalOf } from "./shop.ts";
import { buyOnce, withinLimit } from "./wallet-by-packages.ts";

type Env = { Variables: { readonly key: string; readonly found: KeyItem } };

/** The caller's address is known by each platform in its own way: https://hono.dev/docs/helpers/conninfo */
export const createApp = (getConnInfo: GetConnInfo) =>
  new Hono<Env>()
    // https://hono.dev/docs/guides/middleware
    .use(async (context, next) => {
      const startedAtMs = Date.now();
      await next();
      logged(context.res.status, Date.now() - startedAtMs);
    })
    // https://hono.dev/docs/middleware/builtin/bearer-auth (verifyToken)
    .use(
      bearerAuth<Env>({
        verifyToken: async (key, context) => {
          context.set("key", key);
          context.set("found", await findKey(key));
          return true;
        },
      }),
    )
    // https://hono.dev/docs/middleware/builtin/ip-restriction, with the account's own list
    .use((context, next) => ipRestriction(getConnInfo, { allowList: context.get("found").whitelist })(context, next))
    .use(async (context, next) => {
      await withinLimit(context.get("key"));
      await next();
    })
    // https://hono.dev/docs/guides/validation#zod-validator-middleware
    .post("/v1/vtu/data/purchase", zValidator("json", orderSchema), async (context) =>
      context.json(await buyOnce({ accountId: context.get("found").account_id, order: context.req.valid("json") })),
    )
    // https://hono.dev/docs/api/hono#error-handling
    .onError((error) => {
      if (error instanceof HTTPException) return error.getResponse();
      const { status, message } = refusalOf(error);
      return Response.json({ status: false, message }, { status });
    });
