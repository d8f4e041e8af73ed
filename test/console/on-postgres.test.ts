import { onPostgres } from '../support/on-postgres.ts'

// Runs tests of work in steps, which can interleave with others, on PostgreSQL.
onPostgres(import.meta.dirname, (name) => import(`./${name}.test.ts`), [
  'erasure-lists',
  'person',
  'request-documents',
  'request-report',
  'requests',
  'approvals',
  'roles',
  'second-factors',
  'single-sign-on',
  'verification',
])
