import * as z from "#zod";
import { securityHeaders } from "../contract/headers.ts";

const event = z.object({ rawPath: z.string(), requestContext: z.object({ http: z.object({ method: z.string() }) }) });

/**
 * The answer to the console's path with a slash at its end, which people type and which no route has: AWS does not say
 * whether `{path+}` matches an empty rest. Undefined for every other request.
 */
export const consoleRedirect = (request: unknown) => {
  const { data } = event.safeParse(request);
  if (data?.rawPath !== "/console/" || data.requestContext.http.method !== "GET") return undefined;
  return { statusCode: 302, headers: { ...securityHeaders, location: "/console", "cache-control": "no-store" } };
};
