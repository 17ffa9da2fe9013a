/** An empty handler: the time of the runtime itself. */
export const handler = async () => ({ statusCode: 200, headers: { "content-type": "application/json" }, body: "{}" });
