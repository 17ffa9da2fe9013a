import { TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { pageList } from "../api/page-list.ts";
import { Icon } from "../components/page/icon.tsx";
import { useSearch } from "../components/table/search.tsx";
import styles from "./shell.module.css";

/** The field in the header. Ctrl-K, or Cmd-K, goes to it. */
export const SearchField = () => {
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState("");
  const { text, search } = useSearch();
  const client = useQueryClient();
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
    // What was not there may be there now.
    if (typed.trim() === text) void client.invalidateQueries({ queryKey: ["search", { text }] });
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
