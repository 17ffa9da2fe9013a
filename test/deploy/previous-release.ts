/** The commit from which a stage must be updated to this tree under traffic. */
export const previousRelease = { commit: "4645a1d7128cceeefe687081f84fcdd3a5793260" };
