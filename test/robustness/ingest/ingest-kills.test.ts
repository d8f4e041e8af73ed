import { describe, it } from 'node:test'
import { killIngest } from './ingest-kills.ts'

describe('lines sent while service, sender and shipper are killed', () => {
  it('are all stored exactly once', (t) => killIngest(t, 5))
})
