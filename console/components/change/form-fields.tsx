import { Checkbox, NativeSelect, PasswordInput, Textarea, TextInput } from "@mantine/core";
import type { FieldErrors } from "../../../shared/contract/errors.ts";
import type { Draft } from "../../sign-in/drafts.ts";

type Common = { readonly label: string; readonly description?: string };

/** A field of a form. Its key is the name of the input's field, where errors are shown. */
export type Field =
  | (Common & {
      readonly kind: "text" | "longText" | "date" | "number";
      readonly initial?: string;
      readonly isOptional?: true;
      readonly placeholder?: string;
    })
  /** Never kept while the person signs in again. */
  | (Common & { readonly kind: "secret"; readonly isOptional?: true })
  | (Common & {
      readonly kind: "choice";
      readonly options: readonly Option[];
      readonly initial?: string;
      /** Nothing is chosen beforehand. */
      readonly mustChoose?: true;
    })
  | (Common & { readonly kind: "choices"; readonly options: readonly Option[]; readonly initial?: readonly string[] })
  | (Common & { readonly kind: "check"; readonly initial?: boolean })
  /** Not shown: what the person saw when the form opened, even if it has changed since. */
  | { readonly kind: "seen"; readonly initial: string };

export type Option = { readonly value: string; readonly label: string; readonly description?: string };

export type Fields = Readonly<Record<string, Field>>;

/** What a form holds: a text, the chosen values of `choices`, or whether a `check` is set. */
export type FieldValues<Of extends Fields> = {
  readonly [Name in keyof Of]: Of[Name]["kind"] extends "choices"
    ? readonly string[]
    : Of[Name]["kind"] extends "check"
      ? boolean
      : string;
};

type Value = Draft[string];

const emptyValue = (field: Field): Value => {
  switch (field.kind) {
    case "choices":
      return [...(field.initial ?? [])];
    case "check":
      return field.initial ?? false;
    case "choice":
      return field.initial ?? (field.mustChoose ? "" : (field.options[0]?.value ?? ""));
    case "secret":
      return "";
    default:
      return field.initial ?? "";
  }
};

const fits = ({ kind }: Field, value: Value | undefined): boolean => {
  if (kind === "choices") return Array.isArray(value);
  return typeof value === (kind === "check" ? "boolean" : "string");
};

export const initialValues = (fields: Fields, draft: Draft | undefined): Draft =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const value = draft?.[name];
      return [name, value !== undefined && fits(field, value) ? value : emptyValue(field)];
    }),
  );

export const hasValues = <Of extends Fields>(fields: Fields, values: Draft): values is Draft & FieldValues<Of> =>
  Object.entries(fields).every(([name, field]) => fits(field, values[name]));

/** The choices that the person has not made, as errors by field. */
export const missingChoices = (fields: Fields, values: Draft): FieldErrors =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([name, field]) => field.kind === "choice" && field.mustChoose && values[name] === "")
      .map(([name]) => [name, ["Choose one"]]),
  );

/** The values without secrets. */
export const draftOf = (fields: Fields, values: Draft): Draft =>
  Object.fromEntries(Object.entries(values).filter(([name]) => fields[name]?.kind !== "secret"));

type ShownField = Exclude<Field, { readonly kind: "seen" }>;

export const isShown = (field: Field): field is ShownField => field.kind !== "seen";

/** Nothing is sent while it is empty. */
export const isRequired = (field: Field): boolean => {
  if (field.kind === "choices" || field.kind === "check" || field.kind === "seen") return false;
  return field.kind === "choice" ? field.mustChoose === true : field.isOptional !== true;
};

/** The id of the element of a field, in the form with this id. */
export const fieldId = (form: string, name: string): string => `${form}-${name}`;

type FormFieldProps = {
  readonly id: string;
  readonly field: ShownField;
  /** It has the focus when the dialog opens. */
  readonly isFirst: boolean;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly error: string | undefined;
};

const textOf = (value: Value): string => (typeof value === "string" ? value : "");

const FormField = ({ id, field, isFirst, value, onChange, error }: FormFieldProps) => {
  const { kind, label, description } = field;
  const focus = { "data-autofocus": isFirst || undefined };
  /** Mantine does not say it of a checkbox, and of a password says it at the wrong element. */
  const invalid = error !== undefined && { "aria-invalid": true };
  const common = {
    ...{ id, label },
    ...(description !== undefined && { description }),
    ...(error !== undefined && { error }),
  };
  switch (kind) {
    case "choice":
      return (
        <NativeSelect
          {...common}
          {...focus}
          // Of a native `required` browsers make a choice that is invalid before the form is sent.
          {...(isRequired(field) && { withAsterisk: true, "aria-required": true })}
          data={[
            ...(field.mustChoose ? [{ value: "", label: "Choose" }] : []),
            ...field.options.map((option) => ({ value: option.value, label: option.label })),
          ]}
          value={textOf(value)}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      );
    case "choices":
      return (
        <Checkbox.Group {...common} id={`${id}-group`} value={Array.isArray(value) ? value : []} onChange={onChange}>
          {field.options.map((option, index) => (
            <Checkbox
              key={option.value}
              {...(index === 0 && { ...focus, id })}
              {...invalid}
              {...(error !== undefined && { "aria-describedby": `${id}-group-error` })}
              mt="xs"
              value={option.value}
              label={option.label}
              {...(option.description !== undefined && { description: option.description })}
            />
          ))}
        </Checkbox.Group>
      );
    case "check":
      return (
        <Checkbox
          {...common}
          {...focus}
          {...invalid}
          checked={value === true}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
      );
    default: {
      const text = {
        ...common,
        ...focus,
        value: textOf(value),
        required: isRequired(field),
        autoComplete: "off",
        onChange: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
          onChange(currentTarget.value),
      };
      if (kind === "secret") {
        return <PasswordInput {...text} {...invalid} visibilityToggleButtonProps={{ "aria-label": `Show ${label}` }} />;
      }
      const placeholder = field.placeholder !== undefined && { placeholder: field.placeholder };
      if (kind === "longText") return <Textarea {...text} {...placeholder} autosize={false} rows={3} />;
      if (kind === "number") return <TextInput {...text} {...placeholder} inputMode="decimal" />;
      return <TextInput {...text} {...placeholder} type={kind} />;
    }
  }
};

type FormFieldsProps = {
  /** Of the form. */
  readonly id: string;
  readonly fields: Fields;
  readonly values: Draft;
  readonly onChange: (values: Draft) => void;
  readonly errors: FieldErrors;
};

/** Fields one below the other, each with its own errors. */
export const FormFields = ({ id, fields, values, onChange, errors }: FormFieldsProps) =>
  Object.entries(fields)
    .flatMap(([name, field]) => (isShown(field) ? [{ name, field }] : []))
    .map(({ name, field }, index) => (
      <FormField
        key={name}
        id={fieldId(id, name)}
        field={field}
        isFirst={index === 0}
        value={values[name] ?? ""}
        onChange={(value) => onChange({ ...values, [name]: value })}
        error={errors[name]?.join(". ")}
      />
    ));
