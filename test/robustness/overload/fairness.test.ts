import { fairnessTest } from './fairness-tests.ts'

// A taste of what fairness.soak.ts measures.
fairnessTest('SQLite', { requests: 20, subjects: 3 })
