import { labels, showFigure } from './labels.ts'
import type { Group, PartResult } from './results.ts'

/** All that a part found, as Markdown. */
export function partTables({ groups }: PartResult): string {
  return groups.map((group) => `### ${capitalised(group.name)}\n\n${groupTable(group)}`).join('\n')
}

function groupTable({ rows, notes = [] }: Group): string {
  const named = new Set(rows.flatMap(({ figures }) => Object.keys(figures)))
  const columns = Object.keys(labels).filter((name) => named.has(name))
  const cells = rows.map(({ name, figures }) => [
    name,
    ...columns.map((column) => (figures[column] ? showFigure(column, figures[column]) : '')),
  ])
  const heading = ['', ...columns.map((column) => labels[column]?.heading ?? column)]
  const said = notes.length > 0 ? `${notes.join(' ')}\n` : ''
  return rows.length === 0 ? said : `${table(heading, cells)}${said && `\n${said}`}`
}

/** A table of Markdown that can be read as it stands: what `isNumber` says so of is at the right. */
export function table(
  heading: readonly string[],
  rows: readonly string[][],
  isNumber = (column: number) => column > 0,
): string {
  const widths = heading.map((_, column) =>
    Math.max(3, ...[heading, ...rows].map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) => {
    const padded = widths.map((width, column) => {
      const cell = cells[column] ?? ''
      return isNumber(column) ? cell.padStart(width) : cell.padEnd(width)
    })
    return `| ${padded.join(' | ')} |`
  }
  const rules = widths.map((width, column) => `${'-'.repeat(width + 1)}${isNumber(column) ? ':' : '-'}`)
  return `${[line(heading), `|${rules.join('|')}|`, ...rows.map(line)].join('\n')}\n`
}

export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
