import express from "express";
import { logged, refusalOf } from "./shop.ts";
import { buyByHand } from "./wallet-by-hand.ts";

export const app = express();
app.disable("x-powered-by");
// https://expressjs.com/en/5x/api.html#express.json
app.use(express.json({ limit: "16kb" }));

app.post("/v1/vtu/data/purchase", async (request, response) => {
  const startedAtMs = Date.now();
  try {
    response.json(await buyByHand(request.headers.authorization, request.body));
  } catch (error) {
    const { status, message } = refusalOf(error);
    response.status(status).json({ status: false, message });
  }
  logged(response.statusCode, Date.now() - startedAtMs);
});
