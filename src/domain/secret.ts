import type { Instant } from './instant.ts'

export interface SecretStore {
  /** The fingerprints of all secrets with which something in the store was made. Empty for a new one. */
  list(): Promise<string[]>
  /** Remembers fingerprints; those that are known already stay as they are. */
  remember(fingerprints: readonly string[], now: Instant): Promise<void>
}
