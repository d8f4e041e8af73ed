import type { Instant } from './instant.ts'

/** Months since January 1970, in UTC. */
export type Month = number

const written = /^(\d{4})-(0[1-9]|1[0-2])$/

export function monthOf(instant: Instant): Month {
  const date = new Date(instant)
  return (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()
}

export function startOfMonth(month: Month): Instant {
  return Date.UTC(1970, month, 1)
}

/** Such as 2026-01. */
export function formatMonth(month: Month): string {
  return new Date(startOfMonth(month)).toISOString().slice(0, 7)
}

/** `null` for anything but a year with four digits and a month. */
export function parseMonth(text: string): Month | null {
  const [, year, month] = written.exec(text) ?? []
  return year === undefined || month === undefined ? null : (Number(year) - 1970) * 12 + Number(month) - 1
}
