import { type FieldErrors, ServiceError } from "../contract/errors.ts";

/** 422 with messages by field. */
export const invalid = (fields: FieldErrors): ServiceError => new ServiceError("validation_failed", { fields });
