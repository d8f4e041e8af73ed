import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { runGuide } from './run-guide.ts'
import { startSampleService } from './sample-service.ts'

const noJq = spawnSync('jq', ['--version']).status === 0 ? false : 'no jq on the PATH'

test('what the readme asks the sample is answered as it shows', { skip: noJq }, async (t) => {
  const { shell, names } = await startSampleService(t)
  await runGuide('README.md', { shell, names, only: 'Ask it' })
})
