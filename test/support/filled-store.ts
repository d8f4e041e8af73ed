import type { IncomingRow } from '../../src/domain/ingest.ts'
import type { Store } from '../../src/domain/store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts'
import { writeEmptyStore } from './empty-store.ts'
import { always } from './rows.ts'
import { testKeys } from './test-keyring.ts'
import { keeping, rememberWindows } from './windows.ts'

/** The tracker of `fillStore`, as one sees it from whom nothing is hidden. */
export const shop = { organisationId: 'acme', trackerId: 'shop', since: always }

/** Makes a store with these rows of the tracker `shop`, which belongs to `acme`, on the plan free. */
export async function fillStore(path: string, rows: readonly IncomingRow[]): Promise<void> {
  await writeEmptyStore(path)
  return inStore(path, (store) => fill(store, rows))
}

/** The same in a store that is open. */
export async function fill(store: Store, rows: readonly IncomingRow[]): Promise<void> {
  const { organisations, trackers, ingest, retention } = store
  await organisations.create({ id: 'acme', name: 'Acme', plan: 'free', createdAt: 1 })
  await trackers.create({ id: 'shop', organisationId: 'acme', name: 'Shop', createdAt: 1 })
  // Whatever window a test configures is longer, so that nothing waits for a day.
  await rememberWindows({ retention }, keeping(1))
  await ingest.ingest(rows, testKeys)
}

/** Opens a store for as long as `work` takes, past whatever else uses it. */
export async function inStore<Result>(
  path: string,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openSqliteStore(path, { writesHere: true })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
