import { after } from 'node:test'
import { openApi } from './requests/api-surface.ts'
import { openConsoleSurface } from './requests/console-surface.ts'
import { apiRequestTests, consoleRequestTests } from './requests/request-tests.ts'

const services = []
for (const store of ['sqlite', 'postgres']) {
  process.env.LETHE_TEST_STORE = store
  services.push({ api: await openApi({ after }), console: await openConsoleSurface({ after }) })
}

for (const { api, console } of services) {
  const plan = { tests: 4, runs: 3_000, minRequests: 150_000, attacks: 20_000, hangUps: 10_000 }
  apiRequestTests(api, { ...plan, meetsRefusals: true, timeout: 600_000 })
  const few = { tests: 1, runs: 4_000, minRequests: 50_000 }
  consoleRequestTests(console, { ...few, meetsRefusals: true, timeout: 900_000 })
}
