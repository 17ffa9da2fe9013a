/** Networks with several names; the upstream's catalog decides which of them is the code, and may change it. */
const synonyms: readonly (readonly string[])[] = [
  ["9mobile", "etisalat", "t2"],
  ["glo", "globacom"],
];

/** All names of the network with this one. */
export const networkNames = (name: string): readonly string[] =>
  synonyms.find((names) => names.includes(name)) ?? [name];

/** Whether both name one network, or none. */
export const isSameNetwork = (one: string | undefined, other: string | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && networkNames(one).includes(other));
