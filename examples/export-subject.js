// Exports all that is stored about a visitor to a file, one JSON object a line, and says what is in it.
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
  // For nobody else to read, and not in the place of another copy.
  await pipeline(copy.ndjson(), createWriteStream(file, { mode: 0o600, flags: 'wx' }))
  console.log(`${file}: sessions ${counts.sessions}, events ${counts.events}`)
} catch (error) {
  process.exitCode = 1
  // Before you tell somebody so, be sure of the tracker: the service answers the same where there is none of that id.
  if (error instanceof ApiError && error.code === 'not_found')
    console.error('Nothing is stored about this visitor in this tracker, or there is no such tracker.')
  else console.error(error instanceof Error ? error.message : error)
  // Half a copy must not pass for a whole one; a file that was there before is not ours.
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) await rm(file, { force: true })
}
