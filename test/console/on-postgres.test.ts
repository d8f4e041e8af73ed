import { onPostgres } from '../support/on-postgres.ts'

// Runs the tests of background erasures, whose steps can interleave with others, on PostgreSQL.
onPostgres(import.meta.dirname, (name) => import(`./${name}.test.ts`), ['people', 'request-report'])
