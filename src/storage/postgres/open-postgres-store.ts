import type { Client } from 'pg'
import { LetheError } from '../../domain/errors.ts'
import { hideSecrets } from '../../domain/secret.ts'
import type { Store } from '../../domain/store.ts'
import { anyOrganisation } from '../nouns/organisation.ts'
import { sharedStores } from '../nouns/stores.ts'
import { transferStore } from '../nouns/transfer.ts'
import { withClient } from './connect.ts'
import { Connections } from './connections.ts'
import { distribute, isDistributed, listShards, prepareToMigrate, upgradeDistribution } from './distribute.ts'
import { exportStore } from './export.ts'
import { derivationStore } from './identifier-derivation.ts'
import { ingestStore } from './ingest.ts'
import { migrate, migrations, version } from './migrate.ts'
import { scrubStore } from './scrub.ts'
import { searchStore } from './search.ts'
import { eventStore, sessionStore } from './session.ts'
import { subjectStore } from './subject.ts'
import { subjectStoreOnShards } from './subject-on-shards.ts'
import { trackerSweep } from './sweep.ts'
import { copyRows } from './transaction.ts'

/** Opens the store in a PostgreSQL database; creates or upgrades it if needed. */
export async function openPostgresStore(url: string): Promise<Store> {
  const connections = new Connections(url, await prepare(url))
  return {
    ...sharedStores(connections, trackerSweep(connections)),
    subjects: connections.isDistributed ? subjectStoreOnShards(connections) : subjectStore(connections),
    search: searchStore(connections),
    exports: exportStore(connections),
    sessions: sessionStore(connections),
    events: eventStore(connections),
    ingest: ingestStore(connections),
    derivation: derivationStore(connections),
    maintenance: {
      ...scrubStore(connections),
      withMaintenanceLock: (work) => connections.withMaintenanceLock(work),
      backup,
      distribute: () => withClient(url, distribute),
    },
    transfer: transferStore(connections, (table, rows) =>
      connections.load((client) =>
        copyRows(
          client,
          table.name,
          table.columns.map(({ name }) => name),
          rows,
        ),
      ),
    ),
    batchReads: (reads) => reads(),
    connections: () => connections.use(),
    ping: () => connections.probe(anyOrganisation),
    close: () => connections.close(),
  }
}

/** Whether a database holds a store. Read-only. */
export function postgresStoreExists(url: string): Promise<boolean> {
  return onDatabase(url, async (client) => (await version(client)) > 0)
}

/** Upgrades the store; returns its shards if it is distributed over a cluster. */
function prepare(url: string): Promise<number[]> {
  return onDatabase(url, async (client) => {
    const wasDistributed = await isDistributed(client)
    if (wasDistributed && (await version(client)) < migrations().length) await prepareToMigrate(client)
    await migrate(client)
    if (!wasDistributed) return []
    await upgradeDistribution(client)
    return listShards(client)
  })
}

/** Runs `work` on a database. Errors become one line for the operator. */
function onDatabase<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  return withClient(url, work).catch((error) => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`Cannot open the store ${hideSecrets(url)}: ${reason}`, { cause: error })
  })
}

async function backup(): Promise<void> {
  throw new LetheError(
    'invalid_request',
    'The store is a PostgreSQL database: back it up with pg_dump, or with what your server has for that.',
  )
}
