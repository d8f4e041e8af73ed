import { withMaintenanceLock } from '../../../src/storage/sqlite/store-files.ts'

// Run by store-files.test.ts in a process of its own: says whether it is alone, and stays so until it is killed when told to.
const [path = '', stay = ''] = process.argv.slice(2)
const done = await withMaintenanceLock(path, async () => {
  process.stdout.write('alone\n')
  if (stay !== '') await new Promise(() => setInterval(() => {}, 1_000))
  return true
})
if (done === null) process.stdout.write('not alone\n')
