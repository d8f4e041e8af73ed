/**
 * A value that is here already, or will be. An engine in this process answers immediately, one across a network later; whoever goes on
 * immediately when it can saves each request a dozen turns of the promise queue.
 */
export type MaybePromise<Value> = Value | Promise<Value>

/** Goes on with a value: immediately when it is here, else when it comes. */
export function andThen<Value, Result>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/**
 * Takes one step after the other with `subject`, until one finds an obstacle, which is handed back: immediately, when no step has to wait
 * for something. An obstacle that is expected is better found than thrown: V8 leaves a function that always throws to its interpreter.
 */
export function runSteps<Subject, Obstacle>(
  steps: readonly ((subject: Subject) => MaybePromise<Obstacle | null>)[],
  subject: Subject,
  from = 0,
): MaybePromise<Obstacle | null> {
  for (let next = from; next < steps.length; next++) {
    const found = steps[next]?.(subject) ?? null
    if (found instanceof Promise)
      return found.then((obstacle) => obstacle ?? runSteps(steps, subject, next + 1))
    if (found !== null) return found
  }
  return null
}
