import { createContext, type ReactNode, useContext, useMemo, useState } from "react";
import { pageList } from "../../api/page-list.ts";
import { PageLink } from "../page/page-link.tsx";

/** What was searched for. It may be a phone number, so it is in no path, no title and no history. */
type Search = { readonly text: string; readonly search: (text: string) => void };

const SearchContext = createContext<Search>({ text: "", search: () => {} });

export const useSearch = (): Search => useContext(SearchContext);

export const SearchProvider = ({ children }: { readonly children: ReactNode }) => {
  const [text, search] = useState("");
  return <SearchContext value={useMemo(() => ({ text, search }), [text])}>{children}</SearchContext>;
};

/** A link that searches for a reference, where the page does not know whose it is. */
export const SearchLink = ({ text }: { readonly text: string }) => {
  const { search } = useSearch();
  return (
    <PageLink to={pageList.search.path} onClick={() => search(text)}>
      {text}
    </PageLink>
  );
};
