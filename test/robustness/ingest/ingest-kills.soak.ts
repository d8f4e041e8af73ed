import { describe, it } from 'node:test'
import { killIngest } from './ingest-kills.ts'

describe('lines that flow while service, sender and shipper are killed, for longer,', () => {
  for (const round of [1, 2, 3, 4])
    it(`are all stored in the end, each once: round ${round}`, (t) => killIngest(t, 25))
})
