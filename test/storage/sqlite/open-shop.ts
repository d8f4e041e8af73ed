import { join } from 'node:path'
import type { Store } from '../../../src/domain/store.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/open-sqlite-store.ts'
import type { Lifetime } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { keeping, rememberWindows } from '../../support/windows.ts'

/**
 * A store in a file of its own, with the tracker `shop` of the organisation `acme`; closed with the test. It writes in a thread, as a
 * service does, or here, as commands do: to start a thread costs more than most tests.
 */
export async function openShop(
  t: Lifetime,
  { writesHere = false } = {},
): Promise<{ store: Store; path: string }> {
  const path = join(temporaryFolder(t), 'lethe.db')
  const store = await openSqliteStore(path, { writesHere })
  t.after(() => store.close())
  await store.organisations.create({ id: 'acme', name: 'Acme', plan: 'free', createdAt: 1 })
  await store.trackers.create({ id: 'shop', organisationId: 'acme', name: 'Shop', createdAt: 1 })
  // So that `stepBefore` sweeps what it says.
  await rememberWindows(store, keeping(1))
  return { store, path }
}
