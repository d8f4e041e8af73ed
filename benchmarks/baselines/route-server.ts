// The baseline of a route: Fastify reads the same rows from the store, counts once in Redis if that is
// configured, and responds. It has no keys, no limits, no log and no query parameters. V8 has the settings of
// Lethe's service.
import fastify from 'fastify'
import { expectShortLived } from '../../src/cli/until-stopped.ts'
import { readConfig } from '../../src/config.ts'
import { Problems } from '../../src/domain/errors.ts'
import { presentSummary } from '../../src/http/api/subjects.ts'
import { openLimiter } from '../../src/limiter/open-limiter.ts'
import { planSubjectList } from '../../src/operations/subject.ts'
import { openStore } from '../../src/storage/open-store.ts'
import { organisation, subjectsPath } from '../stores/empty-store.ts'
import { tracker } from '../stores/visits.ts'

const config = readConfig(process.env)
const store = await openStore(config.store)
const limiter = await openLimiter(config.limiter, Date.now, { onLost() {}, onFound() {} })
const view = { organisationId: organisation, trackerId: tracker, since: 0 }
const budget = { name: 'ip', limit: 999_999_999, windowMs: 60_000 } as const
const isShared = config.limiter.engine !== 'memory'
const meta = { requestId: '00000000-0000-4000-8000-000000000000', timestamp: new Date().toISOString() }

const app = fastify()

app.get<{ Params: { subjectId: string } }>(`${subjectsPath}/:subjectId`, async ({ params }) => {
  if (isShared) await limiter.take(budget, 'everybody')
  const record = await store.subjects.read(view, params.subjectId)
  if (record === null) throw new Error('There is no such subject.')
  return { data: { trackerId: tracker, ...presentSummary(record), attributes: record.attributes }, meta }
})
app.get<{ Querystring: { limit: string } }>(subjectsPath, async ({ query }) => {
  if (isShared) await limiter.take(budget, 'everybody')
  const asked = planSubjectList(tracker, { limit: Number(query.limit) }, new Problems())
  const page = await store.subjects.list(view, asked)
  return { data: { subjects: page?.rows.map(presentSummary), nextCursor: page?.next?.subjectId }, meta }
})
app.get('/healthz', () => ({}))
expectShortLived()
await app.listen({ host: '127.0.0.1', port: Number(process.env.LETHE_PORT) })
