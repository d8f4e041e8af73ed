import type { IncomingRow } from '../../src/domain/ingest.ts'
import type { Plan } from '../../src/domain/retention.ts'
import type { Store } from '../../src/domain/store.ts'
import { openSqliteStore } from '../../src/storage/sqlite/open-sqlite-store.ts'
import { writeEmptyStore } from './empty-store.ts'
import { always } from './rows.ts'
import { testKeys } from './test-keyring.ts'
import { keeping, rememberWindows } from './windows.ts'

/** The tracker of `fillStore`, in a view from which nothing has aged out. */
export const shop = { organisationId: 'acme', trackerId: 'shop', since: always }

/** Creates the organisation `acme` with the tracker `shop`. */
export async function addShop(
  { organisations, trackers }: Pick<Store, 'organisations' | 'trackers'>,
  { plan = 'free' }: { plan?: Plan } = {},
): Promise<void> {
  await organisations.create({ id: 'acme', name: 'Acme', plan, createdAt: 1 })
  await trackers.create({ id: 'shop', organisationId: 'acme', name: 'Shop', createdAt: 1 })
}

/** Creates a store with these rows in the tracker `shop`, which belongs to `acme` on the free plan. */
export async function fillStore(path: string, rows: readonly IncomingRow[]): Promise<void> {
  await writeEmptyStore(path)
  return inStore(path, (store) => fill(store, rows))
}

/** Does the same in an open store. */
export async function fill(store: Store, rows: readonly IncomingRow[]): Promise<void> {
  await addShop(store)
  // Every window that tests configure is longer, so no deletion waits for the grace period of a day.
  await rememberWindows(store, keeping(1))
  await store.ingest.ingest(rows, testKeys)
}

/** Opens a store while `work` runs, on its own connection. */
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
