import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { after, before, describe, it } from 'node:test'
import { programPath } from '../../support/command-line.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { killErasures } from './kill-erasure.ts'
import { killImports } from './kill-import.ts'
import { killLists } from './kill-list.ts'
import { killMixedWork } from './kill-mixed.ts'
import { killRequests, type RequestPlan } from './kill-requests.ts'
import { killScrubs } from './kill-scrub.ts'
import { killSweeps } from './kill-sweep.ts'
import type { MakeKillable } from './killable-store.ts'
import { type Plan, Tally } from './killing.ts'

interface Plans {
  /** Separate tests for these three; mixed work also includes them. */
  imports?: Plan
  erasures?: Plan
  sweeps?: Plan
  /** One row is one request. */
  requests: readonly RequestPlan[]
  /** One row is one person. */
  lists: Plan
  mixed: Plan
  /** For the embedded store. */
  scrubs?: Plan
}

/**
 * Kills processes that work on a store, and checks what they leave behind and whether the next one completes
 * it. A kill counts only if the process was still working: `minInTime` is the minimum share of those.
 */
export function killTests(
  engine: string,
  makeStore: MakeKillable,
  plans: Plans & { minInTime: number },
): void {
  // The many processes start in half the time with the code that an earlier one has compiled.
  if (!process.env.NODE_COMPILE_CACHE) {
    process.env.NODE_COMPILE_CACHE = temporaryFolder({ after })
    before(() => execFileSync(process.execPath, [programPath, '--version']))
  }
  describe(`killed at any moment, on ${engine},`, () => {
    const total = new Tally()
    if (plans.imports) killImports(makeStore, plans.imports, total)
    if (plans.erasures) killErasures(makeStore, plans.erasures, total)
    for (const plan of plans.requests) killRequests(makeStore, plan, total)
    killLists(makeStore, plans.lists, total)
    if (plans.sweeps) killSweeps(makeStore, plans.sweeps, total)
    if (plans.scrubs) killScrubs(plans.scrubs, total)
    killMixedWork(makeStore, plans.mixed, total)

    it('enough kills hit a process that was still working', (t) => {
      t.diagnostic(`in all ${total}`)
      assert.ok(total.inTime >= total.kills * plans.minInTime)
    })
  })
}
