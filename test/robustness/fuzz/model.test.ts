import { modelTests } from './model/model-tests.ts'

// A sequence takes four times as long on PostgreSQL.
await modelTests({ sequences: process.env.LETHE_TEST_STORE === 'postgres' ? 8 : 8 })
