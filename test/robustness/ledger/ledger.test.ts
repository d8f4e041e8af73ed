import { ledgerTests } from './ledger-tests.ts'

// A taste of what ledger.soak.ts does at length.
ledgerTests({ races: 15, crowd: { erasures: 60, processes: 2 } })
