// The limit to measure against: Fastify answering a fixed body, and nothing else.
import fastify from 'fastify'

const body: unknown = JSON.parse(process.env.BODY ?? '{}')
const app = fastify()
app.get('/v1/analytics/trackers/:trackerId/subjects/:subjectId', () => body)
await app.listen({ host: '127.0.0.1', port: Number(process.env.LETHE_PORT) })
