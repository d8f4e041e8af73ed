import { counted } from './counted.ts'
import type { Terminal } from './terminal.ts'

/** Tells people what a command did while it opened the secrets of a store. */
export function secretReports({ tell }: Terminal) {
  return {
    onSecretMade: (path: string) =>
      tell(`Made a new secret at ${path}. Keep a copy of it, apart from the backups of the store.`),
    onLedgersAdopted: (count: number) =>
      tell(
        `Authenticated ${counted(count, 'ledger')} that version 0.2 wrote. This happens once, after the upgrade: if you see it again, somebody has changed the store.`,
      ),
  }
}
