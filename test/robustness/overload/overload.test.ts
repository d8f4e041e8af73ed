import { overloadTests } from './overload-tests.ts'

// A taste of what overload.soak.ts does at length.
await overloadTests({
  connections: 200,
  pipelining: { connections: 10, requests: 200 },
  addresses: 3_000,
  mostMb: 500,
})
