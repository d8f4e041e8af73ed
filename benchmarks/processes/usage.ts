import { readFileSync } from 'node:fs'

/** Linux counts a process's time in hundredths of a second. */
const microsecondsPerTick = 10_000

/** How long the processors have worked for a process so far; `null` where nobody can tell. */
export function cpuMicroseconds(pid: number): number | null {
  const stat = readProc(pid, 'stat')
  // What stands before the last bracket is the program's name, which may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = Number(fields[11]) + Number(fields[12])
  return stat === '' ? null : ticks * microsecondsPerTick
}

/** The memory a process has now (`VmRSS`), without files that it reads (`RssAnon`), or had at its most (`VmHWM`); `null` where nobody can tell. */
export function residentMegabytes(pid: number, which: 'VmRSS' | 'RssAnon' | 'VmHWM'): number | null {
  const kilobytes = new RegExp(`${which}:\\s+(\\d+) kB`).exec(readProc(pid, 'status'))?.[1]
  return kilobytes === undefined ? null : Number(kilobytes) / 1_000
}

/** What Linux knows of a process; nothing elsewhere, or when it has ended. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
