import autocannon from 'autocannon'
import { addressOf, type LoadGenerator } from './load.ts'

/** Load from autocannon, in this process. It takes about as much processor time as the server. */
export function autocannonLoad(): LoadGenerator {
  return {
    name: 'autocannon',
    async run({ url, method, headers, paths, connections, seconds }) {
      let last = -1
      const result = await autocannon({
        url,
        method,
        connections,
        duration: seconds,
        sampleInt: Math.min(1_000, seconds * 1_000),
        requests: [
          {
            setupRequest(request) {
              last += 1
              const path = paths[last % paths.length] ?? '/'
              return { ...request, path, headers: { ...headers, 'X-Forwarded-For': addressOf(last) } }
            },
          },
        ],
      })
      return {
        requests: result.requests.total,
        seconds: result.duration,
        p50Ms: result.latency.p50,
        p99Ms: result.latency.p99,
        refused: result['4xx'] + result['5xx'],
        failed: result.errors,
      }
    },
  }
}
