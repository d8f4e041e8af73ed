import { onPostgres } from '../support/on-postgres.ts'

// What the service does by itself for a member, in steps that others may come between.
onPostgres(import.meta.dirname, (name) => import(`./${name}.test.ts`), ['people'])
