import { ledgerTests } from './ledger-tests.ts'

// A taste of what ledger.soak.ts does at length.
ledgerTests({ races: 6, crowd: { erasures: 24, processes: 2 } })
