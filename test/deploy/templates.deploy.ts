/** What is tested of the templates of all variants of a stage, in one file, because a synthesis takes about a second. */
import "./templates/handlers.ts";
import "./templates/cfn-lint.ts";
import "./templates/replacements.ts";
