/** The record of a request, from which its span is created. */
export interface RequestTrace {
  /** `null` until the request ends. */
  traceId: string | null
  /** The IDs in the client's `traceparent`, in hexadecimal; empty if there is none. */
  readonly sentIds: readonly string[]
  /** Ignores the client's `traceparent`, because it reveals a person. */
  forgetSent(): void
}
