import { requestTests } from './requests/request-tests.ts'

// Most requests are refused before they reach a store, whichever it is; PostgreSQL takes longer.
const isPostgres = process.env.LETHE_TEST_STORE === 'postgres'
await requestTests(
  isPostgres
    ? { tests: 1, runs: 70, leastRequests: 800, attacks: 30, hangUps: 60 }
    : { tests: 1, runs: 150, leastRequests: 1_800, attacks: 400, hangUps: 150 },
)
