/** By the code of the error of a file or folder. */
const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EACCES: "this user has no permission for it",
  EPERM: "this user has no permission for it",
  EISDIR: "it is a folder",
  ERR_FS_EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is no folder",
  ENOSPC: "the disk is full",
  EROFS: "its disk is read-only",
};

/** What is wrong with a file or folder, in words and with the code that people search for. */
export const fileProblem = (error: Error): string => {
  const code = "code" in error ? String(error.code) : "";
  return PROBLEMS[code] === undefined ? error.message : `${PROBLEMS[code]} (${code})`;
};
