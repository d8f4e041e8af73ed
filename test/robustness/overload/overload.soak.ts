import { overloadTests } from './overload-tests.ts'

overloadTests({
  connections: 2_000,
  pipelining: { connections: 50, requests: 1_500 },
  addresses: 100_000,
  mostMb: 1_000,
})
