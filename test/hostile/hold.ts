import type { TestContext } from 'node:test'
import fc from 'fast-check'
import { seededRandom } from '../support/seeded-random.ts'

/** Under the time a test may take, so that a failure is told with what was shrunk by then. */
const patienceMs = 50_000

/**
 * Holds a property against generated input and tells the seed: `LETHE_TEST_SEED` repeats a run. What fails is shrunk to the least
 * that still does.
 */
export async function hold<Input>(
  t: TestContext,
  property: fc.IAsyncProperty<Input> | fc.IProperty<Input>,
  { runs = 500, patience = patienceMs }: { runs?: number; patience?: number } = {},
): Promise<void> {
  const { seed } = seededRandom()
  t.diagnostic(`LETHE_TEST_SEED=${seed}`)
  await fc.assert(property, {
    seed,
    numRuns: runs,
    interruptAfterTimeLimit: patience,
    markInterruptAsFailure: true,
  })
}
