import type { Lifetime } from './service.ts'

/** A lifetime that closes in reverse order: a service before the store that it uses. */
export function inReverse(lifetime: Lifetime): Lifetime {
  const works: (() => void | Promise<void>)[] = []
  lifetime.after(async () => {
    for (const work of works.reverse()) await work()
  })
  return { after: (work) => works.push(work) }
}
