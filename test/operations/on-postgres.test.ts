import { onPostgres } from '../support/on-postgres.ts'

// What combines several ports of the store; the rest is the store's contract.
onPostgres(import.meta.dirname, (name) => import(`./${name}.test.ts`), [
  'advance-privacy-request',
  'export-person',
  'sample',
])
