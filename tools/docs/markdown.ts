/** A table in Markdown; the first row is its head. */
export const markdownTable = ([head = [], ...rows]: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** A document with what is between a section's marks made anew, from what is there. */
export const withSection = async (
  document: string,
  name: string,
  render: (before: string) => string | Promise<string>,
  command = "npm run tables",
): Promise<string> => {
  const begin = `<!-- ${name}: written by ${command} -->\n`;
  const end = `<!-- end of ${name} -->`;
  const [head = "", rest = ""] = document.split(begin);
  const [before, tail] = rest.split(end);
  if (before === undefined || tail === undefined) {
    throw new Error(`The marks of a section are missing: ${begin.trim()} and ${end}`);
  }
  return `${head}${begin}${await render(before)}\n${end}${tail}`;
};
