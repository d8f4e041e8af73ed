import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { lethe, useOnFirstDay } from './installed-program.ts'
import { install, pack } from './packed.ts'
import { nodes } from './tools.ts'
import { useFactors } from './use-factors.ts'

describe('the package lethe, installed in an empty folder', () => {
  const packed = temporaryFolder({ after })
  let tarball = ''
  before(() => {
    tarball = pack('lethe', packed)
  })

  for (const { name, path, skip } of nodes) {
    it(`does all of a first day on ${name}`, { skip }, async (t) => {
      const folder = temporaryFolder(t)
      install(tarball, folder, path)
      const installed = readdirSync(join(folder, 'node_modules')).filter((entry) => !entry.startsWith('.'))
      assert.deepEqual(installed, ['lethe'])
      // Runs the command by its path, as a shell would. The first Node on the PATH is the one under test.
      const PATH = [dirname(path), process.env.PATH].join(delimiter)
      const program = { command: [join(folder, 'node_modules/.bin/lethe')], folder, env: { PATH } }
      await useFactors(t, program, await useOnFirstDay(t, program))
      const { node } = JSON.parse(await lethe(program, ['status', '--json']))
      t.diagnostic(`ran on Node ${node}`)
    })
  }
})
