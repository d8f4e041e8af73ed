import { modelTests } from './model/model-tests.ts'

// PostgreSQL is slower; its soak runs hundreds.
await modelTests({ sequences: process.env.LETHE_TEST_STORE === 'postgres' ? 2 : 8 })
