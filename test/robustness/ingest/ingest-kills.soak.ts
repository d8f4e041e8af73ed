import { describe, it } from 'node:test'
import { killIngest } from './ingest-kills.ts'

describe('lines sent while service, sender and shipper are killed, for longer,', () => {
  for (const round of [1, 2, 3, 4])
    it(`are all stored exactly once: round ${round}`, (t) => killIngest(t, 25))
})
