import { type Budget, type Limiter, memberErasureBudget } from '../../domain/budget.ts'
import { type HttpTools, identityOf } from '../request-context.ts'

/** Tells what is left of a member's erasures. They are counted as they are done, by the service. */
export function memberErasures(
  limiter: Pick<Limiter, 'peek'>,
  ofKeys: Pick<Budget, 'limit' | 'windowMs'>,
): HttpTools['erasuresLeft'] {
  const budget = memberErasureBudget(ofKeys)
  return async (context) => {
    const { actor } = identityOf(context)
    return limiter.peek(budget, actor.kind === 'member' ? actor.id : '', context)
  }
}
