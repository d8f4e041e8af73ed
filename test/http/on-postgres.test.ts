import { onPostgres } from '../support/on-postgres.ts'

// Every route, and what hangs on more than one answer of the store: who may call, what is erased, streamed or proven.
// What single answers hold, that nothing in them has aged out, and that it ends what is under way when it is closed, is the store's
// contract; what is decided before the store is asked, or without it, is the same on all.
onPostgres(import.meta.dirname, (name) => import(`./${name}.test.ts`), [
  ...['deletions', 'erase-subject', 'examples', 'export-subject', 'key-changes', 'ledger'],
  ...['request-races', 'requests'],
  'search-subjects',
  'variables',
])
