import { onPostgres } from '../support/on-postgres.ts'

// Tests of work in steps, which can interleave with other work.
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
