import { requestTests } from './requests/request-tests.ts'

// Most requests are refused before they reach a store, whichever it is; PostgreSQL takes longer.
const isPostgres = process.env.LETHE_TEST_STORE === 'postgres'
await requestTests(
  isPostgres
    ? { tests: 1, runs: 12, leastRequests: 120, meetsRefusals: false, attacks: 0, hangUps: 25 }
    : { tests: 1, runs: 60, leastRequests: 600, meetsRefusals: true, attacks: 100, hangUps: 30 },
)
