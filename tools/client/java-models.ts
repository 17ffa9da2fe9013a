import { readOperations } from "./operations.ts";
import { camelCase, type Field, type Model, readSchemas, typeWriter } from "./schemas.ts";

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
  const { models: described, aliases } = readSchemas(documentText);
  const { models } = readOperations(documentText, described);
  const aliasTypes = new Map(aliases.map(({ name, type }) => [name, type]));
  const typeText: TypeText = typeWriter({
    ...{ text: "String", integer: "Long", number: "BigDecimal", boolean: "Boolean", true: "Boolean" },
    named: (name) => {
      const alias = aliasTypes.get(name);
      return alias === undefined ? name : typeText(alias);
    },
    list: (of) => `List<${of}>`,
    either: () => "JsonNode",
  });
  return [HEADER, ...models.map((model) => modelText(model, typeText)), "}\n"].join("");
};

type TypeText = ReturnType<typeof typeWriter>;

const modelText = ({ name, fields }: Model, typeText: TypeText): string => `
${javadoc(fields)}  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ${name}(
${fields.map((field) => fieldText(field, typeText)).join(",\n")}) {${constructorText(name, fields)}}
`;

/** Jackson makes a node of a null. */
const constructorText = (name: string, fields: readonly Field[]): string => {
  const nodes = fields.filter(({ type, isNullable }) => type.kind === "either" && isNullable);
  const lines = nodes
    .map((field) => camelCase(field.name))
    .map((node) => `      if (${node} != null && ${node}.isNull()) ${node} = null;\n`);
  return lines.length === 0 ? "" : `\n    public ${name} {\n${lines.join("")}    }\n  `;
};

/** What a field means is a parameter of the record: a comment beside the component is none of Javadoc's. */
const javadoc = (fields: readonly Field[]): string => {
  const lines = fields
    .filter(({ description }) => description !== "")
    .map(({ name, description }) => `   * @param ${camelCase(name)} ${javadocText(description)}\n`);
  return lines.length === 0 ? "" : `  /**\n${lines.join("")}   */\n`;
};

const javadocText = (text: string): string => text.replace(/`([^`]*)`/g, "{@code $1}").replaceAll("*/", "*&#47;");

const fieldText = ({ name, type }: Field, typeText: TypeText): string =>
  `      @JsonProperty("${name}") ${typeText(type)} ${camelCase(name)}`;
