import { fairnessTest } from './fairness-tests.ts'

// A short version of fairness.soak.ts.
fairnessTest('SQLite', { requests: 20, subjects: 3 })
