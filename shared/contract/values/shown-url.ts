const MASK = "***";

/** A URL without user name, password, fragment and the values of its query, which may be secrets. */
export const shownUrl = (href: string): string => {
  const { protocol, host, pathname, search } = new URL(href);
  return `${protocol}//${host}${pathname}${search === "" ? "" : `?${search.slice(1).split("&").map(masked).join("&")}`}`;
};

const masked = (parameter: string): string => {
  const [name, ...value] = parameter.split("=");
  return value.length === 0 ? MASK : `${name}=${MASK}`;
};

/** Whether a URL has a masked value: a person copied what was shown. */
export const isMaskedUrl = (text: string): boolean => text.includes(MASK);
