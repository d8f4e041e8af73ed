import { after } from 'node:test'
import { emptyStore, openStoreAt } from '../support/empty-store.ts'
import { inReverse } from '../support/in-reverse.ts'
import { ageingModelContract } from './contract/ageing-model.ts'
import { Fixture } from './contract/fixture.ts'

for (const engine of ['sqlite', 'postgres']) {
  process.env.LETHE_TEST_STORE = engine
  const lifetime = inReverse({ after })
  const store = await openStoreAt(await emptyStore(lifetime))
  lifetime.after(() => store.close())
  const fixture = new Fixture()
  fixture.use(store)
  ageingModelContract(fixture, { steps: 2_000, timeoutMs: 600_000 })
}
