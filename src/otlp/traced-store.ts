import type { Budget, Limiter } from '../domain/budget.ts'
import type { Services } from '../domain/services.ts'
import type { RequestSpans } from './spans.ts'

/** Members that requests do not call, or that do not belong to the store. */
const untraced = new Set([
  ...[
    'jobs',
    'journal',
    'keyring',
    'maintenance',
    'randomness',
    'replay',
    'retentionDays',
    'secrets',
    'transfer',
  ],
])

/** The same services; calls to their store's ports are recorded as `subjects.read`, without arguments. */
export function tracedServices(services: Services, spans: RequestSpans, system: string): Services {
  const traced = { ...services }
  for (const [port, value] of Object.entries(services)) {
    if (typeof value !== 'object' || value === null || untraced.has(port)) continue
    const attributes = { 'db.system.name': system, 'db.collection.name': port }
    const record: Record = (method, run) =>
      spans.call(`${port}.${method}`, { ...attributes, 'db.operation.name': method }, run)
    Object.assign(traced, { [port]: tracedPort(value, record) })
  }
  return traced
}

type Record = <Result>(method: string, run: () => Result) => Result

/** A port whose methods are recorded. Each is wrapped once. */
function tracedPort<Port extends object>(port: Port, record: Record): Port {
  const wrapped = new Map<string | symbol, unknown>()
  return new Proxy(port, {
    get(target, name) {
      const known = wrapped.get(name)
      if (known !== undefined) return known
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      const traced = (...args: unknown[]): unknown =>
        record(String(name), () => Reflect.apply(value, target, args))
      wrapped.set(name, traced)
      return traced
    },
  })
}

type Watched = Omit<Limiter, 'close'>

/** The same limiter, with its calls recorded by the name of the budget. */
export function tracedLimiter(limiter: Watched, spans: RequestSpans): Watched {
  const record = (method: string, { name }: Budget, run: () => ReturnType<Watched['take']>) =>
    spans.call(`limiter.${method}`, { 'lethe.budget': name }, run)
  return {
    take: (budget, ...how) => record('take', budget, () => limiter.take(budget, ...how)),
    isReachable: () => limiter.isReachable(),
  }
}
