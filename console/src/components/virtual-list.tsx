import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'

interface VirtualListProps<Row> {
  label: string
  rows: readonly Row[]
  heightOf(row: Row): number
  keyOf(row: Row, index: number): string
  /** Called when the last rows come near the viewport. */
  onNearEnd(): void
  children(row: Row): ComponentChildren
}

/** How many rows are rendered beyond either edge of the viewport. */
const spare = 12
const nearEndRows = 80

/**
 * A list of any length that scrolls with the page and renders only the visible rows. Each row must have the
 * height `heightOf` returns.
 */
export function VirtualList<Row>(props: VirtualListProps<Row>) {
  const { label, rows, heightOf, keyOf, onNearEnd, children } = props
  const list = useRef<HTMLOListElement>(null)
  const offsets = useMemo(() => {
    const all = new Float64Array(rows.length + 1)
    rows.forEach((row, i) => {
      all[i + 1] = (all[i] ?? 0) + heightOf(row)
    })
    return all
  }, [rows, rows.length, heightOf])
  const [[first, last], setRange] = useState<[number, number]>([0, 40])
  useLayoutEffect(() => {
    let frame = 0
    const look = () => {
      frame = 0
      const top = list.current?.getBoundingClientRect().top ?? 0
      const from = Math.max(0, rowAt(offsets, -top) - spare)
      const to = Math.min(rows.length, rowAt(offsets, innerHeight - top) + spare + 1)
      setRange((before) => (before[0] === from && before[1] === to ? before : [from, to]))
    }
    const lookSoon = () => {
      frame ||= requestAnimationFrame(look)
    }
    look()
    addEventListener('scroll', lookSoon, { passive: true })
    addEventListener('resize', lookSoon)
    return () => {
      cancelAnimationFrame(frame)
      removeEventListener('scroll', lookSoon)
      removeEventListener('resize', lookSoon)
    }
  }, [offsets])
  const isNearEnd = last >= rows.length - nearEndRows
  useEffect(() => {
    if (isNearEnd) onNearEnd()
  }, [isNearEnd, rows.length])
  const shown = rows.slice(first, last)
  return (
    <ol
      ref={list}
      class="virtual"
      aria-label={label}
      style={{
        height: `${offsets[rows.length]}px`,
        paddingTop: `${offsets[Math.min(first, rows.length)]}px`,
      }}
    >
      {shown.map((row, i) => (
        <li
          key={keyOf(row, first + i)}
          aria-setsize={rows.length}
          aria-posinset={first + i + 1}
          style={{ height: `${heightOf(row)}px` }}
        >
          {children(row)}
        </li>
      ))}
    </ol>
  )
}

/** The last row that starts at or above a height. */
function rowAt(offsets: Float64Array, height: number): number {
  let [low, high] = [0, offsets.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((offsets[middle] ?? 0) <= height) low = middle
    else high = middle - 1
  }
  return low
}
