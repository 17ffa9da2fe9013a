import { TextInput } from "@mantine/core";
import {
  createContext,
  type ReactNode,
  type SubmitEvent,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { useLocation } from "wouter";
import { Icon } from "../components/icon.tsx";
import { PageLink } from "../components/page-link.tsx";
import { pageList } from "./page-list.ts";
import styles from "./shell.module.css";

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

/** The field in the header. Ctrl-K, or Cmd-K, goes to it. */
export const SearchField = () => {
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState("");
  const { search } = useSearch();
  const [path, navigate] = useLocation();
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      field.current?.focus();
      field.current?.select();
    };
    document.addEventListener("keydown", focus);
    return () => document.removeEventListener("keydown", focus);
  }, []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (typed.trim() === "") return;
    search(typed.trim());
    if (path !== pageList.search.path) navigate(pageList.search.path);
  };
  return (
    <search className={styles.search}>
      <form onSubmit={submit}>
        <TextInput
          ref={field}
          type="search"
          size="xs"
          aria-label="Search"
          placeholder="Phone number, reference, account"
          autoComplete="off"
          leftSection={<Icon name="search" />}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      </form>
    </search>
  );
};
