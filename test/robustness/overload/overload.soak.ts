import { overloadTests } from './overload-tests.ts'

for (const store of ['sqlite', 'postgres']) {
  process.env.LETHE_TEST_STORE = store
  await overloadTests({
    connections: 2_000,
    pipelining: { connections: 50, requests: 400 },
    addresses: 100_000,
    maxMb: 1_000,
  })
}
