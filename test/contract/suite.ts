import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { type ErrorCode, errorCodes, errors } from "../../shared/contract/errors.ts";
import { headers } from "../../shared/contract/headers.ts";
import { rateGroups } from "../../shared/contract/limits.ts";
import { openApiDocument } from "../../shared/contract/openapi.ts";
import type { Mode } from "../../shared/contract/transaction.ts";
import { type DocumentedOperation, type DocumentedResponse, type Json, readDocument } from "./document.ts";
import { contractHeaders, type Received, type Sent, send, sendPatiently } from "./exchange.ts";
import { anOrderOf, provocations } from "./provocations.ts";

/** Something that speaks the interface: the service on this machine, a deployed stage, an upstream. */
export type Face = {
  readonly name: string;
  /**
   * `service`: all of the document. `interface`: the endpoints of the public interface, without the headers that only this
   * service has.
   */
  readonly promises: "service" | "interface";
  /** Modes for which it has keys; live ones buy. */
  readonly modes: readonly Mode[];
  /** Errors that a request alone cannot bring about, and that this face can be brought to. */
  readonly arrangements: readonly Arrangeable[];
  /** Errors of an operation that this face never answers, although they are documented. */
  readonly cannot?: (operation: string, code: ErrorCode) => boolean;
  readonly open: () => Promise<OpenFace>;
};

export type OpenFace = {
  /** With its `/v1`. */
  readonly baseUrl: string;
  /** A key with all permissions; one with requests left in this minute, where there is a choice. */
  readonly key: (mode: Mode) => Promise<string>;
  /** Makes the next request with this key meet the error. */
  readonly arrange?: (code: Arrangeable, operation: DocumentedOperation) => Promise<Arranged>;
  readonly close: () => Promise<void>;
};
export type Arrangeable = Exclude<ErrorCode, keyof typeof provocations> | ArrangeableAlone;
type ArrangeableAlone =
  | "account_restricted"
  | "internal_error"
  | "ip_not_whitelisted"
  | "permission_denied"
  | "rate_limited"
  | "provider_unavailable";
export type Arranged = { readonly key: string; readonly undo?: () => Promise<void> | void };
