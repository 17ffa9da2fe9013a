const numbers = new Intl.NumberFormat("en-GB");

/** A count with commas between thousands, as amounts have them. */
export const withThousands = <Content>(content: Content): Content | string =>
  typeof content === "number" ? numbers.format(content) : content;
