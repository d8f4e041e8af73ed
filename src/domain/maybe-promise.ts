/**
 * A value, or a promise of one. An embedded engine responds immediately; continuing without a promise saves
 * each request a dozen rounds of the microtask queue.
 */
export type MaybePromise<Value> = Value | Promise<Value>

/** As `then`, but immediate if the value is available. */
export function andThen<Value, Result>(
  value: MaybePromise<Value>,
  next: (value: Value) => MaybePromise<Result>,
): MaybePromise<Result> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/**
 * Runs steps until one returns a refusal. Throwing it would be slower: V8 does not optimise such functions.
 */
export function runSteps<Subject, Refusal>(
  steps: readonly ((subject: Subject) => MaybePromise<Refusal | null>)[],
  subject: Subject,
  from = 0,
): MaybePromise<Refusal | null> {
  for (let next = from; next < steps.length; next++) {
    const found = steps[next]?.(subject) ?? null
    if (found instanceof Promise)
      return found.then((refusal) => refusal ?? runSteps(steps, subject, next + 1))
    if (found !== null) return found
  }
  return null
}

interface Group<Question, Answer> {
  questions: Question[]
  answers: Promise<readonly Answer[]>
}

/**
 * Collects concurrent questions, up to `maxBatch`, into one call of `answerAll`, because separate round trips
 * cost several times as much. With `inTurn`, the next batch waits for the previous one to be answered.
 */
export function batcher<Question, Answer>(
  maxBatch: number,
  answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  { inTurn = false } = {},
): (question: Question) => Promise<Answer> {
  let group: Group<Question, Answer> | null = null
  let previous: Promise<unknown> = Promise.resolve()

  function begin(): Group<Question, Answer> {
    const questions: Question[] = []
    const answers = previous.then(() => {
      if (group?.questions === questions) group = null
      return answerAll(questions)
    })
    if (inTurn) previous = answers.catch(() => {})
    return { questions, answers }
  }

  return async (question) => {
    if (group === null || group.questions.length >= maxBatch) group = begin()
    const { questions, answers } = group
    const index = questions.push(question) - 1
    const answer = (await answers)[index]
    if (answer === undefined) throw new Error('Received fewer answers than questions.')
    return answer
  }
}
