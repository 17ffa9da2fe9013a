/** A text of the service, such as a check's name, at the beginning of a line. */
export const capitalised = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
