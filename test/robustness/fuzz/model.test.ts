import { modelTests } from './model/model-tests.ts'

// PostgreSQL takes longer, and its soak plays hundreds.
await modelTests({ sequences: process.env.LETHE_TEST_STORE === 'postgres' ? 2 : 8 })
