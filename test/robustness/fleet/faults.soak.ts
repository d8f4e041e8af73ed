import { faultTests } from './fault-tests.ts'

// Silence beyond the time-outs of the store too.
faultTests({ times: 8, several: true, doomed: 20_000, longestSilenceMs: 9_000 })
