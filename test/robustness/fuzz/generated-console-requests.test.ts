import { consoleRequestTests } from './console/console-request-tests.ts'

// What is to be found differs little between the stores; PostgreSQL takes longer.
const isPostgres = process.env.LETHE_TEST_STORE === 'postgres'
await consoleRequestTests(
  isPostgres ? { runs: 100, leastRequests: 1_000 } : { runs: 180, leastRequests: 2_000 },
)
