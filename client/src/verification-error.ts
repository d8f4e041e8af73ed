/** Which check of a receipt, a checkpoint or a consistency proof failed. */
export type VerificationFailure =
  | 'malformed_key'
  | 'malformed_receipt'
  | 'malformed_record'
  | 'malformed_checkpoint'
  | 'malformed_proof'
  | 'unknown_key'
  | 'bad_signature'
  | 'wrong_origin'
  | 'not_included'
  | 'inconsistent'
  | 'wrong_tracker'
  | 'wrong_subject'
  | 'wrong_person'
  | 'wrong_kind'
  | 'unsupported'

/** A failed verification. The message explains it and never contains an ID or identifier. */
export class VerificationError extends Error {
  override name = 'VerificationError'
  readonly reason: VerificationFailure

  constructor(reason: VerificationFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause })
    this.reason = reason
  }
}
