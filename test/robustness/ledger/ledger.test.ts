import { ledgerTests } from './ledger-tests.ts'

// A short version of ledger.soak.ts.
ledgerTests({ races: 6, crowd: { erasures: 24, processes: 2 } })
