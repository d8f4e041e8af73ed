import { describe, it } from 'node:test'
import { killIngest } from './ingest-kills.ts'

describe('lines that flow while service, sender and shipper are killed', () => {
  it('are all stored in the end, each once', (t) => killIngest(t, 5))
})
