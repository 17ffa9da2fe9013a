/** They move the cursor, hide a part of a text or reverse it; half a surrogate pair is no Unicode. */
const CONTROL = String.raw`\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}`;

const CONTROLS_BUT_LINE_ENDS = new RegExp(String.raw`(?!\r?\n)[${CONTROL}]`, "gu");

export const WITHOUT_CONTROLS = new RegExp(`^[^${CONTROL}]*$`, "u");

/** The text with each control character as `\u001b`, in JSON too, where this means the same; line ends stay. */
export const escapeControls = (text: string): string =>
  text.replace(CONTROLS_BUT_LINE_ENDS, (character) =>
    Array.from({ length: character.length }, (_, unit) => escapedUnit(character.charCodeAt(unit))).join(""),
  );

const escapedUnit = (unit: number): string => `\\u${unit.toString(16).padStart(4, "0")}`;
