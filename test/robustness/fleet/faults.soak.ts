import { faultTests } from './fault-tests.ts'

// PostgreSQL also stays silent for longer than the store's timeouts.
faultTests({ times: 8, several: true, doomed: 20_000, longestSilenceMs: 9_000 })
