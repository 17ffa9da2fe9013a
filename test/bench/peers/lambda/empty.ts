/** Nothing: what a runtime and a bundle cost by themselves. */
export const handler = async () => ({ statusCode: 200, headers: { "content-type": "application/json" }, body: "{}" });
