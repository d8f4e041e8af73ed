import { hash } from 'node:crypto'

const maxPartLength = 60

/**
 * The name of a file for an export, which tells whose it is and is good on every system: letters, digits, dots, dashes and underscores
 * of both ids, and the beginning of their hash, which keeps the names of two subjects apart.
 */
export function exportFileName(trackerId: string, subjectId: string): string {
  const mark = hash('sha256', `${trackerId}\0${subjectId}`).slice(0, 8)
  return `${safe(trackerId)}_${safe(subjectId)}_${mark}.json`
}

function safe(id: string): string {
  return id
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, maxPartLength)
}
