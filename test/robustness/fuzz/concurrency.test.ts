import { concurrencyTests } from './concurrency/concurrency-tests.ts'

await concurrencyTests({ processes: 3, rounds: 1, steps: 60, lanes: 3 })
