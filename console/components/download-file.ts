/** Saves a text as a file of the person's machine. */
export const downloadFile = (name: string, type: "text/csv" | "application/jsonl", text: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
};
