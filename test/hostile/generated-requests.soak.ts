import { requestTests } from './requests/request-tests.ts'

for (const store of ['sqlite', 'postgres']) {
  process.env.LETHE_TEST_STORE = store
  await requestTests({ runs: 20_000, leastRequests: 400_000, attacks: 50_000, patience: 900_000 })
}
