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

/** Takes one step after the other with `subject`: at once to the end when no step has to wait for something. */
export function walk<Subject>(
  steps: readonly ((subject: Subject) => Eventually<void>)[],
  subject: Subject,
  from = 0,
): Eventually<void> {
  for (let next = from; next < steps.length; next++) {
    const step = steps[next]?.(subject)
    if (step instanceof Promise) return step.then(() => walk(steps, subject, next + 1))
  }
}
