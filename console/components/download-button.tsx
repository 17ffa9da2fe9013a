import { Button } from "@mantine/core";
import { useState } from "react";
import type { ActionOutput } from "../../shared/contract/actions/actions.ts";
import { sentenceOf } from "../api/action-error.ts";
import type { SentInput } from "../api/call-action.ts";
import { readAllPages } from "../api/read-all-pages.ts";
import type { PagedName } from "../api/use-read.ts";
import { announce } from "./announce.tsx";
import { downloadFile } from "./download-file.ts";
import { Icon } from "./icon.tsx";
import { Notice } from "./notice.tsx";

type DownloadButtonProps<Name extends PagedName> = {
  /** The button's text. */
  readonly children: string;
  readonly read: Name;
  readonly input: SentInput<Name>;
  readonly fileName: string;
  readonly type: "text/csv" | "application/jsonl";
  readonly textOf: (pages: readonly ActionOutput<Name>[]) => string;
};

/** Reads every page of a list and saves them as one file. */
export const DownloadButton = <Name extends PagedName>(props: DownloadButtonProps<Name>) => {
  const { children, read, input, fileName, type, textOf } = props;
  const [pages, setPages] = useState<number>();
  const [failure, setFailure] = useState<unknown>();
  const download = async () => {
    setFailure(undefined);
    setPages(0);
    try {
      downloadFile(fileName, type, textOf(await readAllPages(read, input, setPages)));
      announce(`${fileName} was saved.`);
    } catch (error) {
      setFailure(error);
    } finally {
      setPages(undefined);
    }
  };
  return (
    <>
      <Button
        variant="default"
        leftSection={<Icon name="download" />}
        disabled={pages !== undefined}
        onClick={() => void download()}
      >
        {pages === undefined || pages < 2 ? children : `${children}: page ${pages}`}
      </Button>
      {failure !== undefined && (
        <Notice tone="bad" title="The file was not saved">
          {sentenceOf(failure)} Then try again.
        </Notice>
      )}
    </>
  );
};
