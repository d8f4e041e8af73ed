import type { Clock } from '../../domain/instant.ts'
import type { CopyStep, copyStore } from '../../operations/store/copy-store.ts'
import { countRows } from '../../operations/store/count-rows.ts'
import type { CopyEnds } from '../../operations/store/verify-copy.ts'
import { onStopSignal } from '../on-stop-signal.ts'
import { Progress, shareOf, workProgress } from '../progress.ts'
import type { Terminal } from '../terminal.ts'

const progressEveryMs = 250

/** Does `work` between two stores, shows how far it has come, and ends it when a signal comes. */
export async function withCopyProgress<Result>(
  terminal: Terminal,
  { source, target }: CopyEnds & { source: { clock: Clock } },
  { verifyOnly }: { verifyOnly: boolean },
  work: (options: Parameters<typeof copyStore>[1]) => Promise<Result>,
): Promise<Result> {
  const sourceRows = await countRows(source.transfer)
  const targetRows = await countRows(target.transfer)
  const totals: Record<CopyStep, number> = {
    comparing: targetRows,
    copying: sourceRows - targetRows,
    verifying: sourceRows + (verifyOnly ? targetRows : sourceRows),
  }
  let step: CopyStep = verifyOnly ? 'verifying' : 'comparing'
  let count = 0
  const view = workProgress(() => ({ step, unit: 'rows', count, share: shareOf(count, totals[step]) }))
  const progress = new Progress(terminal, source.clock, { view })
  const ticking = setInterval(() => progress.tick(), progressEveryMs)
  const stopping = new AbortController()
  const signals = onStopSignal({
    onFirst: (signal) => stopping.abort(new Error(`Stopped by ${signal}. ${outlook(verifyOnly)}`)),
  })
  try {
    return await work({
      signal: stopping.signal,
      onRows(current, rows) {
        count = current === step ? count + rows : rows
        step = current
      },
    })
  } finally {
    signals.release()
    clearInterval(ticking)
    progress.end()
  }
}

function outlook(verifyOnly: boolean): string {
  return verifyOnly ? 'Not everything was compared.' : 'Running it again goes on from there.'
}
