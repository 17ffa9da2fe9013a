import { Button } from "@mantine/core";
import { useState } from "react";
import { sentenceOf } from "../../api/action-error.ts";
import { announce } from "../page/announce.tsx";
import { Icon } from "../page/icon.tsx";
import { Notice } from "../page/notice.tsx";
import { downloadFile } from "./download-file.ts";

type DownloadButtonProps = {
  /** The button's text. */
  readonly children: string;
  readonly fileName: string;
  readonly type: "text/csv" | "application/jsonl";
  /** Reads every page; `onPage` gets their number so far. Undefined while there is nothing to save. */
  readonly read: ((onPage: (pages: number) => void) => Promise<string>) | undefined;
};

/** Reads all of a list and saves it as one file. */
export const DownloadButton = ({ children, fileName, type, read }: DownloadButtonProps) => {
  const [pages, setPages] = useState<number>();
  const [failure, setFailure] = useState<unknown>();
  const download = async () => {
    if (read === undefined) return;
    setFailure(undefined);
    setPages(0);
    try {
      downloadFile(fileName, type, await read(setPages));
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
        aria-busy={pages !== undefined}
        disabled={pages !== undefined || read === undefined}
        onClick={() => void download()}
      >
        {pages === undefined || pages < 2 ? children : `${children}: page ${pages}`}
      </Button>
      {failure !== undefined && (
        <Notice tone="bad" title="The file was not saved">
          {sentenceOf(failure)}
        </Notice>
      )}
    </>
  );
};
