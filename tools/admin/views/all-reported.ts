import { counted } from "../../../shared/contract/values/counted.ts";
import { logProgress } from "./print.ts";

/** All pages of a report. Of several it prints how many accounts have been read. */
export const allReported = async <Page extends { readonly accounts: number; readonly next_cursor: string | null }>(
  pages: AsyncIterable<Page>,
): Promise<readonly Page[]> => {
  const all: Page[] = [];
  let accounts = 0;
  for await (const page of pages) {
    all.push(page);
    accounts += page.accounts;
    if (all.length > 1 || page.next_cursor !== null) logProgress(`Read ${counted(accounts, "account")}`);
  }
  return all;
};
