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

interface Group<Question, Answer> {
  questions: Question[]
  answers: Promise<readonly Answer[]>
}

/**
 * Lets what is asked for at one moment, up to `atMost`, be answered together: across a network, on its own, each would cost both sides
 * several times as much. `answerAll` answers in the order of the questions; when it fails, everybody's question does. Where each has to
 * wait for the one before anyway, `inTurn` lets them gather until that is answered.
 */
export function batcher<Question, Answer>(
  atMost: number,
  answerAll: (questions: readonly Question[]) => Promise<readonly Answer[]>,
  { inTurn = false } = {},
): (question: Question) => Promise<Answer> {
  let group: Group<Question, Answer> | null = null
  let before: Promise<unknown> = Promise.resolve()

  function begin(): Group<Question, Answer> {
    const questions: Question[] = []
    const answers = before.then(() => {
      if (group?.questions === questions) group = null
      return answerAll(questions)
    })
    if (inTurn) before = answers.catch(() => {})
    return { questions, answers }
  }

  return async (question) => {
    if (group === null || group.questions.length >= atMost) group = begin()
    const { questions, answers } = group
    const place = questions.push(question) - 1
    const answer = (await answers)[place]
    if (answer === undefined) throw new Error('There came fewer answers than questions.')
    return answer
  }
}
