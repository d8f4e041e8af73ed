import { grouped } from './progress.ts'

/** So many of something, in words: "1 entry", "2,000 entries". */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${grouped(number)} ${number === 1 ? one : many}`
}

/** What was deleted of a data subject, in words. */
export function countsInWords({ sessions, events }: { sessions: number; events: number }): string {
  return `${counted(sessions, 'session')} and ${counted(events, 'event')}`
}
