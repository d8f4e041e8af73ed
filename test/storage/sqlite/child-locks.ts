import { withMaintenanceLock } from '../../../src/storage/sqlite/store-files.ts'

// Run by store-files.test.ts as a process: prints whether it got the lock. With a second argument, it keeps
// the lock until it is killed.
const [path = '', stay = ''] = process.argv.slice(2)
const done = await withMaintenanceLock(path, async () => {
  process.stdout.write('alone\n')
  if (stay !== '') await new Promise(() => setInterval(() => {}, 1_000))
  return true
})
if (done === null) process.stdout.write('not alone\n')
