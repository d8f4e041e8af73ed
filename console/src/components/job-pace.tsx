import { useEffect, useRef, useState } from 'preact/hooks'
import { leftInWords, type Observation, observe, rateInWords, rateOf } from './pace.ts'
import { When } from './when.tsx'

interface JobPaceProps {
  done: number
  total: number
  isRunning: boolean
  /** When the job resumes after its budget was spent. */
  resumesAt: string | null
}

const observeMs = 1_500

/** How fast a running job is and how long it will take, as observed since the page was opened. */
export function JobPace({ done, total, isRunning, resumesAt }: JobPaceProps) {
  const [seen, setSeen] = useState<readonly Observation[]>([])
  const latest = useRef(done)
  latest.current = done
  const isWorking = isRunning && resumesAt === null && done < total
  useEffect(() => {
    if (!isWorking) return
    const look = () => setSeen((before) => observe(before, { at: Date.now(), done: latest.current }))
    look()
    const timer = setInterval(look, observeMs)
    return () => {
      clearInterval(timer)
      // A rest is not part of the rate.
      setSeen([])
    }
  }, [isWorking])
  const rate = rateOf(seen)
  // The line is always there, so that nothing moves.
  return (
    <p class="job-pace">
      {resumesAt !== null ? (
        <>
          Waiting for the erasure budget until{' '}
          <When at={resumesAt} as={isToday(resumesAt) ? 'time' : 'full'} />
        </>
      ) : isWorking && rate !== null ? (
        `${rateInWords(rate)} · ${leftInWords((total - done) / rate)}`
      ) : null}
    </p>
  )
}

function isToday(at: string): boolean {
  return new Date(at).toDateString() === new Date().toDateString()
}
