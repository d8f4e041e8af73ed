import { requestTests } from './requests/request-tests.ts'

for (const store of ['sqlite', 'postgres']) {
  process.env.LETHE_TEST_STORE = store
  await requestTests({ tests: 10, runs: 3_000, leastRequests: 400_000, attacks: 50_000, patience: 600_000 })
}
