/** What a stage runs before it is updated to this tree: the newest release of CHANGELOG.md. */
export const previousRelease = { version: "0.1.0", commit: "0b0b7fb77d804a8b686dd04cf851adcb7367bd5a" } as const;
