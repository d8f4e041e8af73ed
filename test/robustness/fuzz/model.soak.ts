import { modelTests } from './model/model-tests.ts'

for (const store of ['sqlite', 'postgres']) {
  process.env.LETHE_TEST_STORE = store
  await modelTests({ sequences: 1_000, timeout: 600_000 })
}
