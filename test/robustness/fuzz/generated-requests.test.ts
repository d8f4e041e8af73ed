import { requestTests } from './requests/request-tests.ts'

await requestTests({ tests: 4, runs: 370, leastRequests: 20_000, attacks: 2_000 })
