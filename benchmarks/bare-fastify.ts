// The limit to measure against: Fastify answering a fixed body, and nothing else.
import fastify from 'fastify'

const body: unknown = JSON.parse(process.env.BODY ?? '{}')
const app = fastify()
app.get('/v1/analytics/trackers/:trackerId/subjects/:subjectId', () => body)
const url = await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`${JSON.stringify({ url })}\n`)
