import type { ChangeName } from "../api/use-change.ts";
import { ChangeDialog, type ChangeDialogProps } from "./change-dialog.tsx";
import type { Fields } from "./form-fields.tsx";

/** A ChangeDialog for an action that is `irreversible` or to `confirm`: the person types a name, and gives a reason. */
export const IrreversibleDialog = <Name extends ChangeName, const Of extends Fields = Record<never, never>>(
  props: ChangeDialogProps<Name, Of> & { readonly nameToType: string },
) => <ChangeDialog {...props} />;
