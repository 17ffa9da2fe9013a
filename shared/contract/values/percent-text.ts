/** `98.5 %`; a dash if there is nothing to count. Only all is 100 %, and only none is 0 %. */
export const percentText = (part: number, whole: number): string => {
  if (whole === 0) return "–";
  const tenths = Math.round((1_000 * part) / whole);
  const shown = part > 0 && part < whole ? Math.min(999, Math.max(1, tenths)) : tenths;
  return `${shown / 10} %`;
};
