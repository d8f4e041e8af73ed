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
