import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** A socket that waits for connections, by the address that it is bound to: `127.0.0.1:4010`, `[::1]:4010`. */
export type ListeningSocket = { readonly address: string; readonly isLoopback: boolean };

/** The sockets that a process and all its descendants listen on, as the kernel has them (Linux). */
export const listeningSockets = (pid: number): readonly ListeningSocket[] => {
  const inodes = new Set(processTree(pid).flatMap(socketInodes));
  return [...tableOf("tcp"), ...tableOf("tcp6")]
    .filter(({ inode }) => inodes.has(inode))
    .map(({ hex, port }) => ({ address: `${readable(hex)}:${port}`, isLoopback: isLoopback(hex) }));
};

/** Its own pid first. */
const processTree = (root: number): readonly number[] => {
  const parents = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentOf(Number(name))]),
  );
  const tree = [root];
  for (const member of tree) for (const [pid, parent] of parents) if (parent === member) tree.push(pid);
  return tree;
};

/** The process's name, in parentheses, may hold anything; its parent is the second word after it. */
const parentOf = (pid: number): number | undefined => {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  return stat === undefined ? undefined : Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
};

const socketInodes = (pid: number): readonly string[] =>
  (attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? []).flatMap((fd) => {
    const link = attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`)) ?? "";
    return /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? [];
  });

const LISTENING = "0A";

/** Source: Linux, Documentation/networking/proc_net_tcp. */
const tableOf = (protocol: "tcp" | "tcp6") =>
  (attempt(() => readFileSync(`/proc/net/${protocol}`, "utf8")) ?? "")
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === LISTENING)
    .map((fields) => {
      const [hex = "", port = ""] = (fields[1] ?? "").split(":");
      return { hex, port: Number.parseInt(port, 16), inode: fields[9] ?? "" };
    });

/** The kernel prints an address as 32-bit words in the machine's order, which is little-endian here. */
const bytesOf = (hex: string): readonly number[] =>
  (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, "hex")].reverse());

const MAPPED = "00000000000000000000ffff";
const ipv6Loopback = `${"0".repeat(31)}1`;

const isLoopback = (hex: string): boolean => {
  const address = Buffer.from(bytesOf(hex)).toString("hex");
  return address === ipv6Loopback || address.replace(new RegExp(`^${MAPPED}`), "").startsWith("7f");
};

const readable = (hex: string): string =>
  hex.length === 8 ? bytesOf(hex).join(".") : `[${Buffer.from(bytesOf(hex)).toString("hex")}]`;

/** Processes come and go while they are looked at. */
const attempt = <Result>(work: () => Result): Result | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};
