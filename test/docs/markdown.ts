import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The folder of the project. */
export const root = new URL('../../', import.meta.url)

/** The text of a file of the project. */
export function read(path: string): string {
  return readFileSync(new URL(path, root), 'utf8')
}

/** Every Markdown file of the project, as a path from its folder. */
export function markdownFiles(folder = ''): string[] {
  const skipped = ['node_modules', 'data', 'dist']
  return readdirSync(fileURLToPath(new URL(folder, root)), { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith('.') || skipped.includes(entry.name)) return []
    if (entry.isDirectory()) return markdownFiles(`${folder}${entry.name}/`)
    return entry.name.endsWith('.md') ? [folder + entry.name] : []
  })
}

/** The sections under second-level headings, in order: heading and body. */
export function sections(markdown: string): { heading: string; body: string }[] {
  const parts = markdown.split(/^## (.+)$/m).slice(1)
  return parts.flatMap((heading, i) => (i % 2 === 0 ? [{ heading, body: parts[i + 1] ?? '' }] : []))
}

/** The section under a heading; fails if there is none. */
export function section(markdown: string, heading: string): string {
  const found = sections(markdown).find((each) => each.heading === heading)
  if (!found) throw new Error(`There is no section "${heading}".`)
  return found.body
}

/** The body rows of all tables, as cells. */
export function tableRows(markdown: string): string[][] {
  const lines = withoutBlocks(markdown).split('\n')
  return lines
    .filter((line, i) => line.startsWith('|') && !isRule(line) && !isRule(lines[i + 1]))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

function isRule(line: string | undefined): boolean {
  return line !== undefined && /^\|[-|]+\|$/.test(line)
}

/** The contents of fenced blocks in a language. */
export function blocks(markdown: string, language: string): string[] {
  return [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter((match) => match[1] === language)
    .map((match) => match[2] ?? '')
}

export function withoutBlocks(markdown: string): string {
  return markdown.replaceAll(/^```.*?^```$/gms, '')
}

/** The text on one line. */
export function flat(markdown: string): string {
  return markdown.replaceAll(/\s+/g, ' ')
}

/** The text in backticks, or the whole text if there are none. */
export function code(cell: string | undefined): string {
  return /`([^`]+)`/.exec(cell ?? '')?.[1] ?? cell ?? ''
}

/** Every text in backticks. */
export function codes(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '')
}

/** The anchor of a heading. */
export function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
