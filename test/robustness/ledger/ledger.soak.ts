import { ledgerTests } from './ledger-tests.ts'

ledgerTests({ races: 1_000, crowd: { erasures: 10_000, processes: 4 } })
