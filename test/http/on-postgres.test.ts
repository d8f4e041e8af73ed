import { onPostgres } from '../support/on-postgres.ts'

// The routes that depend on several calls to the store: authentication, erasures, streams and proofs. The
// contract of the store covers single calls; checks before or without the store are the same on every engine.
onPostgres(import.meta.dirname, (name) => import(`./${name}.test.ts`), [
  ...['deletions', 'erase-subject', 'examples', 'export-subject', 'key-changes', 'ledger'],
  ...['request-races', 'requests'],
  'search-subjects',
  'variables',
])
