import type { IncomingRow } from '../../../src/domain/ingest.ts'
import type { Store } from '../../../src/domain/store.ts'
import { openStoreAt } from '../../support/empty-store.ts'
import { testKeys } from '../../support/test-keyring.ts'
import { keeping, rememberWindows } from '../../support/windows.ts'

const batchSize = 5_000

/** Makes an embedded store with a filled shop. */
export function buildShop(path: string, rows: readonly IncomingRow[]): Promise<void> {
  return buildShopAt(`sqlite:${path}`, rows)
}

/** Makes a store with a filled shop, does with it what else is to be done, and closes it. */
export async function buildShopAt(
  address: string,
  rows: readonly IncomingRow[] = [],
  work: (store: Store) => Promise<unknown> = async () => {},
): Promise<void> {
  const store = await openStoreAt(address, { writesHere: true })
  try {
    await fillShop(store, rows)
    await work(store)
  } finally {
    await store.close()
  }
}

/** Gives an empty store an organisation that has the tracker `shop`, and fills that. */
export async function fillShop(store: Store, rows: readonly IncomingRow[]): Promise<void> {
  await store.organisations.create({ id: 'acme', name: 'Acme', plan: 'free', createdAt: 1 })
  await store.trackers.create({ id: 'shop', organisationId: 'acme', name: 'Shop', createdAt: 1 })
  // Whatever window a test configures is longer, so that nothing waits for a day.
  await rememberWindows(store, keeping(1))
  for (let next = 0; next < rows.length; next += batchSize) {
    await store.ingest.ingest(rows.slice(next, next + batchSize), testKeys)
  }
}
