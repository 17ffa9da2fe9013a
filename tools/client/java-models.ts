import { camelCase, type Field, type FieldType, type Model, readSchemas } from "./schemas.ts";

const HEADER = `// Written by npm run openapi from docs/openapi.json.
package airtime;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.util.List;

/** What the service is sent and answers. Amounts are NGN. A field that can be missing is null then. */
public final class Models {
  private Models() {}
`;

/** The records of the Java client. */
export const javaModels = (documentText: string): string => {
  const { models, aliases } = readSchemas(documentText);
  const aliasTypes = new Map(aliases.map(({ name, type }) => [name, type]));
  return [HEADER, ...models.map((model) => modelText(model, aliasTypes)), "}\n"].join("");
};

type Aliases = ReadonlyMap<string, FieldType>;

const modelText = ({ name, fields }: Model, aliases: Aliases): string => `
${javadoc(fields)}  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ${name}(
${fields.map((field) => fieldText(field, aliases)).join(",\n")}) {}
`;

/** What a field means is a parameter of the record: a comment beside the component is none of Javadoc's. */
const javadoc = (fields: readonly Field[]): string => {
  const lines = fields
    .filter(({ description }) => description !== "")
    .map(({ name, description }) => `   * @param ${camelCase(name)} ${javadocText(description)}\n`);
  return lines.length === 0 ? "" : `  /**\n${lines.join("")}   */\n`;
};

const javadocText = (text: string): string => text.replace(/`([^`]*)`/g, "{@code $1}").replaceAll("*/", "*&#47;");

const fieldText = ({ name, type }: Field, aliases: Aliases): string =>
  `      @JsonProperty("${name}") ${typeText(type, aliases)} ${camelCase(name)}`;

const typeText = (type: FieldType, aliases: Aliases): string => {
  switch (type.kind) {
    case "text":
    case "values":
      return "String";
    case "integer":
      return "Long";
    case "number":
      return "BigDecimal";
    case "boolean":
    case "true":
      return "Boolean";
    case "named": {
      const alias = aliases.get(type.name);
      return alias === undefined ? type.name : typeText(alias, aliases);
    }
    case "list":
      return `List<${typeText(type.of, aliases)}>`;
    case "either":
      return "JsonNode";
  }
};
