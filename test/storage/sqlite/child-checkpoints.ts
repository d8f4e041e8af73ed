import { openWriter, pause } from '../../../src/storage/sqlite/connection.ts'

// Run by erasure.test.ts as a process: writes and checkpoints in a loop until it is killed.
const [path = ''] = process.argv.slice(2)
const db = openWriter(path)
db.exec('CREATE TABLE noise (number INTEGER PRIMARY KEY, bytes BLOB) STRICT')
const write = db.prepare('REPLACE INTO noise VALUES (?, zeroblob(2000000))')
const putBack = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')
process.stdout.write('ready\n')
for (let turn = 0; ; turn++) {
  write.run(turn % 3)
  putBack.get()
  pause(5)
}
