import { concurrencyTests } from './concurrency/concurrency-tests.ts'

await concurrencyTests({ processes: 2, rounds: 1, steps: 45, lanes: 4 })
