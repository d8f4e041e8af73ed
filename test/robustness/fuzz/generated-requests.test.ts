import { requestTests } from './requests/request-tests.ts'

// Most requests are refused before they reach a store, whichever it is; PostgreSQL takes longer.
const isPostgres = process.env.LETHE_TEST_STORE === 'postgres'
await requestTests(
  isPostgres
    ? { tests: 1, runs: 220, leastRequests: 2_500, attacks: 100, hangUps: 200 }
    : { tests: 1, runs: 410, leastRequests: 5_000, attacks: 1_000, hangUps: 400 },
)
