import { onPostgres } from '../support/on-postgres.ts'

// Operations that combine several ports of the store; the contract of the store covers the rest.
onPostgres(import.meta.dirname, (name) => import(`./${name}.test.ts`), [
  'advance-privacy-request',
  'export-person',
  'sample',
])
