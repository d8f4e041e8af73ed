import { after } from 'node:test'
import { openApi } from './requests/api-surface.ts'
import { openConsoleSurface } from './requests/console-surface.ts'
import { apiRequestTests, consoleRequestTests } from './requests/request-tests.ts'

const console = await openConsoleSurface({ after })
// Most requests are refused before they reach the store. On PostgreSQL, the console's operations are still
// accepted once, those of the API in test/http/examples.test.ts. The soak sends all of them.
if (process.env.LETHE_TEST_STORE === 'postgres') {
  const plan = { tests: 1, meetsRefusals: false }
  consoleRequestTests(console, { ...plan, runs: 4, minRequests: 25 })
} else {
  const plan = { tests: 1, meetsRefusals: true }
  const api = await openApi({ after })
  apiRequestTests(api, { ...plan, runs: 60, minRequests: 600, attacks: 100, hangUps: 30 })
  consoleRequestTests(console, { ...plan, runs: 12, minRequests: 100 })
}
