// Exports everything stored about a visitor to a file with one JSON object per line, and prints how much it was.
// node examples/export-subject.js TRACKER SUBJECT FILE, with LETHE_URL and LETHE_API_KEY in the environment.
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { ApiError, LetheClient } from '@lethe/client'

const [trackerId = '', subjectId = '', file = ''] = process.argv.slice(2)
const { LETHE_URL: url = '', LETHE_API_KEY: apiKey = '' } = process.env

try {
  const client = new LetheClient({ url, apiKey })
  const { counts } = await client.readSubject(trackerId, subjectId)
  const copy = client.exportSubject(trackerId, subjectId)
  // Only its owner can read the file, and an existing one is not overwritten.
  await pipeline(copy.ndjson(), createWriteStream(file, { mode: 0o600, flags: 'wx' }))
  console.log(`${file}: sessions ${counts.sessions}, events ${counts.events}`)
} catch (error) {
  process.exitCode = 1
  // Check the tracker's ID before you tell anyone: the service responds the same if no tracker has that ID.
  if (error instanceof ApiError && error.code === 'not_found')
    console.error('Nothing is stored about this visitor in this tracker, or there is no such tracker.')
  else console.error(error instanceof Error ? error.message : error)
  // An incomplete copy must not be mistaken for a complete one; a file that already existed is not ours.
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) await rm(file, { force: true })
}
