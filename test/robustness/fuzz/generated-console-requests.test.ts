import { consoleRequestTests } from './console/console-request-tests.ts'

// What is to be found differs little between the stores; PostgreSQL takes longer.
const isPostgres = process.env.LETHE_TEST_STORE === 'postgres'
await consoleRequestTests(
  isPostgres
    ? { runs: 8, leastRequests: 50, meetsRefusals: false }
    : { runs: 12, leastRequests: 100, meetsRefusals: true },
)
