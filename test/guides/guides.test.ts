import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { blocks, read, root, tableRows } from '../docs/markdown.ts'
import { deriveOnce } from '../support/derive-once.ts'
import { runGuide } from './run-guide.ts'
import { startSampleService } from './sample-service.ts'

// The program runs in this process.
deriveOnce(1)

const atOnce = [
  'access-request',
  'erasure-request',
  'one-person-many-ids',
  'prove-an-erasure',
  'erasing-a-batch',
  'keys-in-practice',
]
const withStops = ['backup-and-restore']
/** Run by a file of their own, or without commands. */
const elsewhere = ['install', 'deploying', 'upgrading', 'gdpr']

for (const guide of atOnce) {
  test(`the commands of docs/guides/${guide}.md print what it shows`, async (t) => {
    const { shell, names } = await startSampleService(t)
    await runGuide(`docs/guides/${guide}.md`, { shell, names })
  })
}

for (const guide of withStops) {
  test(`the commands of docs/guides/${guide}.md print what it shows, the service stopped and started in between`, async (t) => {
    const { shell, names, stop, start } = await startSampleService(t, { journal: 'backups/lethe.journal' })
    const standIns = { 'sudo systemctl stop lethe': stop, 'sudo systemctl start lethe': start }
    await runGuide(`docs/guides/${guide}.md`, { shell, names, standIns })
  })
}

test('every guide is in the index, and its commands are run', () => {
  const guides = readdirSync(new URL('docs/guides/', root)).filter((file) => file !== 'README.md')
  assert.deepEqual(guides.sort(), [...atOnce, ...withStops, ...elsewhere].map((name) => `${name}.md`).sort())
  const listed = tableRows(read('docs/guides/README.md')).map(([link]) => /\((.+)\)/.exec(link ?? '')?.[1])
  assert.deepEqual(listed.sort(), guides)
  for (const guide of guides) {
    const text = read(`docs/guides/${guide}`)
    const shown = text.match(/^ *\$ /gm)?.length ?? 0
    const inBlocks = blocks(text, 'console').join('').match(/^\$ /gm)?.length ?? 0
    assert.equal(inBlocks, shown, `${guide} shows commands outside a block of the console`)
    assert.equal(shown > 0, guide !== 'gdpr.md')
  }
})
