import * as z from "zod";
import { components } from "../components.ts";
import { noInput, type Routes } from "../route.ts";

/** The routes of the function `serve-docs`. */
export const serveDocsRoutes = {
  describeApi: {
    method: "GET",
    path: "/v1/openapi.json",
    function: "serve-docs",
    group: "catalog",
    input: noInput,
    data: z.looseObject({ openapi: z.string() }).register(components, { id: "OpenApiDocument" }),
    document: "application/json",
    hasEtag: true,
    summary: "Get this OpenAPI document",
    errors: [],
    example: { input: {}, data: { openapi: "3.1.1" } },
  },
  showDocs: {
    method: "GET",
    path: "/v1/docs",
    function: "serve-docs",
    group: "catalog",
    input: noInput,
    data: z.string(),
    document: "text/html",
    hasEtag: true,
    summary: "Get this document as a web page",
    errors: [],
    example: { input: {}, data: "<!doctype html>" },
  },
} as const satisfies Routes;
