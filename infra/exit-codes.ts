/** The exit codes of all commands. */
export const EXIT_FAILED = 1;
/** Refused: nothing was changed. */
export const EXIT_REFUSED = 2;
export const EXIT_INTERRUPTED = 130;
