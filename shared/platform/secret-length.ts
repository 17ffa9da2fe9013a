/** The service refuses to use a shorter key. In a file of its own: functions have it without the table of all secrets. */
export const SECRET_LENGTH_MIN = 32;
