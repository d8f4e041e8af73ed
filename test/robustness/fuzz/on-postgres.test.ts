import { onPostgres } from '../../support/on-postgres.ts'

onPostgres(import.meta.dirname)
