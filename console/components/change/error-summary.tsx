import { Anchor } from "@mantine/core";
import { Notice } from "../page/notice.tsx";

/** A field with an error: `id` is that of its element. */
export type WrongField = { readonly id: string; readonly label: string; readonly error: string };

/** The wrong fields of a form, above it, each as a link to the field. It takes the focus. Source: GOV.UK, "Error summary". */
export const ErrorSummary = ({ wrong }: { readonly wrong: readonly WrongField[] }) => (
  <div data-summary tabIndex={-1}>
    <Notice tone="bad" title={`${wrong.length} fields are wrong`}>
      <ul>
        {wrong.map(({ id, label, error }) => (
          <li key={id}>
            <Anchor
              href={`#${id}`}
              inherit
              onClick={(event) => {
                // The page's address stays that of the page.
                event.preventDefault();
                document.getElementById(id)?.focus();
              }}
            >
              {label}: {error}
            </Anchor>
          </li>
        ))}
      </ul>
    </Notice>
  </div>
);
