import { after } from 'node:test'
import { openApi } from './requests/api-surface.ts'
import { openConsoleSurface } from './requests/console-surface.ts'
import { apiRequestTests, consoleRequestTests } from './requests/request-tests.ts'

const api = await openApi({ after })
const console = await openConsoleSurface({ after })
// Most requests are refused before they reach a store, whichever it is; on PostgreSQL each operation is still accepted once, and the
// soak sends it as many as the other.
if (process.env.LETHE_TEST_STORE === 'postgres') {
  const plan = { tests: 1, meetsRefusals: false }
  apiRequestTests(api, { ...plan, runs: 8, leastRequests: 80, attacks: 0, hangUps: 12 })
  consoleRequestTests(console, { ...plan, runs: 4, leastRequests: 25 })
} else {
  const plan = { tests: 1, meetsRefusals: true }
  apiRequestTests(api, { ...plan, runs: 60, leastRequests: 600, attacks: 100, hangUps: 30 })
  consoleRequestTests(console, { ...plan, runs: 12, leastRequests: 100 })
}
