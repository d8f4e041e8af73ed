import { concurrencyTests } from './concurrency/concurrency-tests.ts'

for (const store of ['sqlite', 'postgres']) {
  process.env.LETHE_TEST_STORE = store
  await concurrencyTests({ processes: 4, rounds: 12, steps: 150, lanes: 4 })
}
