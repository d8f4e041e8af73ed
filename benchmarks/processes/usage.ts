import { readFileSync } from 'node:fs'

/** Linux counts a process's time in hundredths of a second. */
const microsecondsPerTick = 10_000

/** The CPU time of a process so far; `null` if unknown. */
export function cpuMicroseconds(pid: number): number | null {
  const stat = readProc(pid, 'stat')
  // The text before the last bracket is the program's name, which may contain anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = Number(fields[11]) + Number(fields[12])
  return stat === '' ? null : ticks * microsecondsPerTick
}

/**
 * The current memory of a process (`VmRSS`), without mapped files (`RssAnon`), or its peak (`VmHWM`); `null`
 * if unknown.
 */
export function residentMegabytes(pid: number, which: 'VmRSS' | 'RssAnon' | 'VmHWM'): number | null {
  const kilobytes = new RegExp(`${which}:\\s+(\\d+) kB`).exec(readProc(pid, 'status'))?.[1]
  return kilobytes === undefined ? null : Number(kilobytes) / 1_000
}

/** A file of a process in /proc; empty on other systems and after the process has ended. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
