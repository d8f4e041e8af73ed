import { requestTests } from './requests/request-tests.ts'

await requestTests({ runs: 900, leastRequests: 20_000, attacks: 3_000 })
