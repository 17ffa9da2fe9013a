/** Without it, Excel on Windows takes a CSV file for its own code page, and misreads a name such as Ọláìyá. */
const BYTE_ORDER_MARK = "\ufeff";

/** Saves a text as a file of the person's machine. */
export const downloadFile = (name: string, type: "text/csv" | "application/jsonl", text: string): void => {
  const parts = type === "text/csv" ? [BYTE_ORDER_MARK, text] : [text];
  const url = URL.createObjectURL(new Blob(parts, { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
};
