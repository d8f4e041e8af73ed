import { overloadTests } from './overload-tests.ts'

// A short version of overload.soak.ts.
await overloadTests({
  connections: 40,
  pipelining: { connections: 4, requests: 200 },
  addresses: 1_000,
  maxMb: 500,
})
