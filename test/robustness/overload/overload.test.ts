import { overloadTests } from './overload-tests.ts'

// A taste of what overload.soak.ts does at length.
await overloadTests({
  connections: 500,
  pipelining: { connections: 20, requests: 1_000 },
  addresses: 3_000,
  mostMb: 500,
})
