import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import fc from 'fast-check'
import { seededRandom } from '../../support/seeded-random.ts'

/** Well under the time a test may take, so that a failure is told with what was shrunk by then. */
const timeoutMs = 80_000
/** A busy machine may come no further than this part of the runs; less would show nothing. */
const minShare = 0.05

/**
 * Holds a property against generated input and tells the seed: `LETHE_TEST_SEED` repeats a run. What fails is shrunk to the least
 * that still does. Where the time is up before all runs are done, those that were count.
 */
export async function hold<Input>(...args: Parameters<typeof holdShare<Input>>): Promise<void> {
  await holdShare(...args)
}

/** The same, and hands back which share of the runs was done. */
export async function holdShare<Input>(
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
