/** A Markdown table; the first row is its header. */
export const markdownTable = ([head = [], ...rows]: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

const COLUMNS_MAX = 100;

/** A paragraph wrapped at 100 columns. */
export const wrap = (text: string): string => {
  const [first = "", ...words] = text.trim().split(/\s+/);
  let wrapped = first;
  let column = first.length;
  for (const word of words) {
    const fits = column + 1 + word.length <= COLUMNS_MAX;
    wrapped += fits ? ` ${word}` : `\n${word}`;
    column = fits ? column + 1 + word.length : word.length;
  }
  return wrapped;
};

/** The document with the text between a section's marks rendered again; `render` gets the current text. */
export const withSection = async (
  document: string,
  name: string,
  render: (current: string) => string | Promise<string>,
  command = "npm run tables",
): Promise<string> => {
  const begin = `<!-- ${name}: written by ${command} -->\n`;
  const end = `<!-- end of ${name} -->`;
  const [head = "", rest = ""] = document.split(begin);
  const [current, tail] = rest.split(end);
  if (current === undefined || tail === undefined) {
    throw new Error(`The marks of a section are missing: ${begin.trim()} and ${end}`);
  }
  return `${head}${begin}${await render(current)}\n${end}${tail}`;
};
