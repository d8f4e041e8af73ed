import { consoleRequestTests } from './console/console-request-tests.ts'

await consoleRequestTests({ runs: 180, leastRequests: 2_000 })
