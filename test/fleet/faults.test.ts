import { faultTests } from './fault-tests.ts'

// A taste of what faults.soak.ts does at length.
faultTests({ times: 1, several: false, doomed: 1_000, longestSilenceMs: 1_500 })
