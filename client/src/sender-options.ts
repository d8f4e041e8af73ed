import {
  type EventLine,
  type IngestLine,
  maxBatchBytes,
  maxBatchLines,
  type SessionLine,
} from './ingest-line.ts'
import type { QueueLimits } from './line-queue.ts'

export interface SenderOptions {
  /**
   * Called with the error of each failed attempt. If `isWorthRepeating` is false and it happens again,
   * somebody has to act: the key, its scope or the tracker is wrong, or batches are rejected.
   */
  onError: (error: Error) => void
  /** Called with lines that the service refused because they are invalid. They contain personal data. */
  onRefused?: ((refused: RefusedLines) => void) | undefined
  /** Called with the number of lines that were lost, and why. */
  onDropped?: ((dropped: DroppedLines) => void) | undefined
  /** How long a line waits for others; 5 if omitted. */
  flushSeconds?: number | undefined
  /** A batch is sent as soon as it has this many lines; 1,000 if omitted, at most 10,000. */
  maxBatchLines?: number | undefined
  /** A batch has at most this many bytes before compression; 1 MiB if omitted, at most 4 MiB. */
  maxBatchBytes?: number | undefined
  /** More lines are dropped; 100,000 if omitted. */
  maxQueueLines?: number | undefined
  /** More bytes of lines are dropped; 64 MiB if omitted. */
  maxQueueBytes?: number | undefined
}

/** An event to track. The sender adds `eventId` and `occurredAt` if they are missing. */
export interface TrackedEvent extends Omit<EventLine, 'type' | 'trackerId' | 'occurredAt'> {
  /** Now if omitted. */
  occurredAt?: EventLine['occurredAt'] | undefined
}

/** A session to track, with its attributes. Later calls for the same session update it. */
export interface TrackedSession extends Omit<SessionLine, 'type' | 'trackerId' | 'startedAt'> {
  /** Now if omitted. */
  startedAt?: SessionLine['startedAt'] | undefined
}

/** Invalid lines. They were not stored, and are not sent again. */
export interface RefusedLines {
  count: number
  /** The first 100 of them, with the reason. */
  lines: readonly { line: IngestLine; message: string }[]
  /** The request that contained them; `null` if they were not sent. */
  requestId: string | null
}

/** Lines that were lost. */
export interface DroppedLines {
  count: number
  /**
   * The queue was full; the service or a proxy rejected a batch of this line alone, see `onError`; or the
   * sender was closed before they were delivered.
   */
  reason: 'queue_full' | 'rejected' | 'closed'
}

/** What became of the lines since the sender was created. */
export interface SenderCounts {
  /** Wait to be sent, or for the response. */
  waiting: number
  /** Delivered, including those not stored because they were too old or of an erased subject. */
  delivered: number
  refused: number
  dropped: number
}

/** The limits of a sender's queue. Throws a `RangeError` for an impossible one. */
export function queueLimits(options: SenderOptions): QueueLimits {
  return {
    maxBatchLines: limit(options, 'maxBatchLines', 1_000, maxBatchLines),
    maxBatchBytes: limit(options, 'maxBatchBytes', 1024 * 1024, maxBatchBytes),
    maxQueueLines: limit(options, 'maxQueueLines', 100_000),
    maxQueueBytes: limit(options, 'maxQueueBytes', 64 * 1024 * 1024),
  }
}

function limit(
  options: SenderOptions,
  name: keyof QueueLimits,
  fallback: number,
  maximum = Number.MAX_SAFE_INTEGER,
): number {
  const value = options[name] ?? fallback
  if (Number.isSafeInteger(value) && value >= 1 && value <= maximum) return value
  throw new RangeError(`${name} must be an integer from 1 to ${maximum}.`)
}
