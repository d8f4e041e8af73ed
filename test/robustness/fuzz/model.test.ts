import { modelTests } from './model/model-tests.ts'

await modelTests({ sequences: 8 })
