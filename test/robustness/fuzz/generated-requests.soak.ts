import { requestTests } from './requests/request-tests.ts'

for (const store of ['sqlite', 'postgres']) {
  process.env.LETHE_TEST_STORE = store
  await requestTests({
    ...{
      tests: 4,
      runs: 3_000,
      leastRequests: 150_000,
      meetsRefusals: true,
      attacks: 20_000,
      hangUps: 10_000,
    },
    timeout: 600_000,
  })
}
