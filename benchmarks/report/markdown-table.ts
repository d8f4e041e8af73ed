import { median } from './results.ts'

/** The median and, if there were several rounds, the lowest and the highest. */
export function spread(rounds: readonly number[], digits: number): string {
  if (rounds.length < 2) return show(median(rounds), digits)
  return `${show(median(rounds), digits)} (${show(Math.min(...rounds), digits)}–${show(Math.max(...rounds), digits)})`
}

export function show(value: number, digits: number): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** A Markdown table with padded cells, readable as text. */
export function table(heading: readonly string[], rows: readonly string[][]): string {
  const widths = heading.map((_, column) =>
    Math.max(3, ...[heading, ...rows].map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  return `${[line(heading), rule, ...rows.map(line)].join('\n')}\n`
}
