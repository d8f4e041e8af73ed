import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startSample } from './sample.ts'
import { runTool, skip } from './tools.ts'

describe('Spectral', { skip }, () => {
  for (const name of ['spectral-oas.yaml', 'spectral-owasp.yaml']) {
    test(`has nothing to say against the served document by ${name}`, async (t) => {
      // As a service is run for others: behind TLS.
      const { folder, document } = await startSample(t, { LETHE_PUBLIC_URL: 'https://lethe.example' })
      // Rule sets are looked for from where the file lies that names them.
      const ruleset = join(folder, name)
      copyFileSync(fileURLToPath(new URL(name, import.meta.url)), ruleset)
      const args = ['lint', document, '--ruleset', ruleset, '--fail-severity', 'hint']
      const { status, output } = await runTool('spectral', args, { cwd: folder })
      assert.equal(status, 0, output)
    })
  }
})
