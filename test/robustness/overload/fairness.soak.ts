import { fairnessTest } from './fairness-tests.ts'

for (const engine of ['SQLite', 'PostgreSQL'] as const) fairnessTest(engine, { requests: 500, subjects: 5 })
