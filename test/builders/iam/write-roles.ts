import { renameSync, writeFileSync } from "node:fs";
import { everyFunction } from "../templates/console.ts";
import { templatesOf } from "../templates/templates.ts";
import { stagePolicies } from "./roles.ts";

// Writes what the role of each function allows, in a stage that has all of them.
const [file = ""] = process.argv.slice(2);
const { functions } = stagePolicies(templatesOf("prod", everyFunction));
writeFileSync(`${file}.new`, JSON.stringify([...functions]));
renameSync(`${file}.new`, file);
