// `lethe import` compared with plain batched inserts of the same rows into the same tables, and its memory.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { insertPlainly } from '../baselines/plain-sqlite.ts'
import type { Bench } from '../bench.ts'
import { importFile, writeFile } from '../processes/import-file.ts'
import { Figures, type Group } from '../report/results.ts'
import type { ImportSize } from '../sizes.ts'
import { emptyStore } from '../stores/empty-store.ts'
import { type LineOrder, subjectsIn } from '../stores/visits.ts'

export async function measureImport(bench: Bench<ImportSize>): Promise<Group[]> {
  const groups: Group[] = []
  for (const order of bench.size.orders) groups.push(await measureOrder(bench, order))
  return groups
}

async function measureOrder({ size, lifetime, tell }: Bench<ImportSize>, order: LineOrder): Promise<Group> {
  const { lines, rounds } = size
  const figures = new Figures()
  for (let round = 0; round < rounds; round++) {
    tell(`${lines} lines ${order}, round ${round + 1} of ${rounds}`)
    const plain = await emptyStore(lifetime)
    const bareRate = insertPlainly(plain.path, lines, order)
    const store = await emptyStore(lifetime)
    const file = join(store.folder, 'visits.ndjson')
    await writeFile(file, lines, order)
    // Both the plain inserts and the import also write the subjects' rows.
    const rows = lines + subjectsIn(lines)
    const first = await importFile(file, store.env)
    const again = await importFile(file, store.env)
    figures.add('plain batched inserts', { rowsPerSecond: bareRate, ratio: 1 })
    for (const [name, { seconds, megabytes }] of Object.entries({
      'lethe import': first,
      'the same file again': again,
    })) {
      figures.add(name, {
        rowsPerSecond: rows / seconds,
        ratio: rows / seconds / bareRate,
        seconds,
        megabytes,
      })
    }
    for (const folder of [plain.folder, store.folder]) rmSync(folder, { recursive: true })
  }
  return { name: `lines ${order}`, rows: figures.rows(), notes: [`${lines.toLocaleString('en')} lines.`] }
}
