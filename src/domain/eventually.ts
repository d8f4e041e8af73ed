/**
 * A value that is here already, or will be. An engine in this process answers at once, one across a network later; whoever goes on
 * at once when it can saves each request a dozen turns of the promise queue.
 */
export type Eventually<Value> = Value | Promise<Value>

/** Goes on with a value: at once when it is here, else when it comes. */
export function then<Value, Result>(
  value: Eventually<Value>,
  next: (value: Value) => Eventually<Result>,
): Eventually<Result> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Steps that may have to wait for something, written one below the other; `yield* wait(…)` is their `await`. */
export type Steps<Result> = Generator<Promise<unknown>, Result, unknown>

export function* wait<Value>(value: Eventually<Value>): Steps<Value> {
  // What comes back from a yield is what the promise resolved to: `walk` sees to that, but TypeScript cannot.
  return value instanceof Promise ? ((yield value) as Value) : value
}

/** Walks through steps: at once to the end when nothing has to be waited for. */
export function walk<Result>(steps: Steps<Result>): Eventually<Result> {
  const first = steps.next()
  return first.done ? first.value : walkOn(steps, first.value)
}

async function walkOn<Result>(steps: Steps<Result>, awaited: Promise<unknown>): Promise<Result> {
  let step: IteratorResult<Promise<unknown>, Result> = { done: false, value: awaited }
  while (!step.done) {
    const goOn: () => IteratorResult<Promise<unknown>, Result> = await step.value.then(
      (value) => () => steps.next(value),
      (error) => () => steps.throw(error),
    )
    step = goOn()
  }
  return step.value
}
