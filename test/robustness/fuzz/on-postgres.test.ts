import { onPostgres } from '../../support/on-postgres.ts'

onPostgres(import.meta.dirname, (name) => import(`./${name}.test.ts`))
