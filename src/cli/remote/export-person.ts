import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FoundSubject, Identifier, LetheClient } from '@lethe/client'
import { exportFileName } from '../../domain/export-file-name.ts'
import { formatInstant } from '../../domain/instant.ts'
import { legible } from '../legible.ts'
import { hiddenInWords } from './subjects-find.ts'
import { writeWhole } from './whole-file.ts'

export interface WrittenExport extends FoundSubject {
  file: string
  bytes: number
}

/**
 * Writes all that is stored about a person into a folder: a file for each data subject, and last an index of what was found where and
 * when. Without an index, the folder is not complete.
 */
export async function exportPerson(
  client: LetheClient,
  identifier: Identifier,
  { folder, format, signal }: { folder: string; format: 'json' | 'ndjson'; signal: AbortSignal },
  tell: (line: string) => void,
): Promise<WrittenExport[]> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const searchedAt = formatInstant(Date.now())
  const written: WrittenExport[] = []
  let hiddenCount = 0
  for await (const { subjects, hidden = [] } of client
    .searchSubjects({ identifier }, {}, { signal })
    .pages()) {
    for (const found of subjects) {
      const { trackerId, subjectId } = found
      const file = exportFileName(trackerId, subjectId).replace(/json$/, format)
      const whole = client.exportSubject(trackerId, subjectId, { signal })
      const bytes = await writeWhole(join(folder, file), whole[format]())
      tell(`${legible(trackerId)} ${legible(subjectId)}: ${file}`)
      written.push({ ...found, file, bytes })
    }
    hiddenCount += hidden.length
  }
  for (const line of hiddenInWords(hiddenCount)) tell(line)
  const index = JSON.stringify({ identifier, searchedAt, subjects: written }, null, 2)
  await writeWhole(join(folder, 'index.json'), [`${index}\n`])
  return written
}
