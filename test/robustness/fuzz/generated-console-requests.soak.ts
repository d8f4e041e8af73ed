import { consoleRequestTests } from './console/console-request-tests.ts'

for (const store of ['sqlite', 'postgres']) {
  process.env.LETHE_TEST_STORE = store
  await consoleRequestTests({ runs: 4_000, leastRequests: 50_000, meetsRefusals: true, timeout: 900_000 })
}
