import { overloadTests } from './overload-tests.ts'

// A taste of what overload.soak.ts does at length.
await overloadTests({
  connections: 40,
  pipelining: { connections: 4, requests: 200 },
  addresses: 1_000,
  maxMb: 500,
})
