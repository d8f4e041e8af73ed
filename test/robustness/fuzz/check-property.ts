import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import fc from 'fast-check'
import { seededRandom } from '../../support/seeded-random.ts'

/** Less than the test's timeout, so that a failure reports what was shrunk so far. */
const timeoutMs = 80_000
/** The smallest share of the runs that a busy machine must complete. */
const minShare = 0.05

/**
 * Checks a property with generated input and reports the seed: `LETHE_TEST_SEED` repeats a run. Failing input
 * is shrunk. If the time runs out, the completed runs count.
 */
export async function checkProperty<Input>(
  ...args: Parameters<typeof checkPropertyShare<Input>>
): Promise<void> {
  await checkPropertyShare(...args)
}

/** Does the same, and returns the share of the runs that were completed. */
export async function checkPropertyShare<Input>(
  t: TestContext,
  property: fc.IAsyncProperty<Input> | fc.IProperty<Input>,
  { runs = 500, timeout = timeoutMs }: { runs?: number; timeout?: number } = {},
): Promise<number> {
  const { seed } = seededRandom()
  t.diagnostic(`LETHE_TEST_SEED=${seed}`)
  const details = await fc.check(property, { seed, numRuns: runs, interruptAfterTimeLimit: timeout })
  if (details.failed) throw new Error(fc.defaultReportMessage(details), { cause: details.errorInstance })
  if (details.interrupted) t.diagnostic(`${details.numRuns} of ${runs} runs in ${timeout} ms`)
  assert.ok(details.numRuns >= runs * minShare, `only ${details.numRuns} of ${runs} runs`)
  return details.numRuns / runs
}
