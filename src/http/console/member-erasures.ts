import { type Budget, budgetSpent, type Limiter } from '../../domain/budget.ts'
import { type HttpTools, identityOf } from '../request-context.ts'

/** Counts the erasures of each member at the console by the budget that a key has at the API. */
export function memberErasures(
  limiter: Pick<Limiter, 'take'>,
  ofKeys: Pick<Budget, 'limit' | 'windowMs'>,
): HttpTools['countErasure'] {
  const { limit, windowMs } = ofKeys
  const budget: Budget = { name: 'member-erasure', limit, windowMs }
  return async (context) => {
    const { actor } = identityOf(context)
    const state = await limiter.take(budget, actor.kind === 'member' ? actor.id : '', context)
    context.budget = state
    if (!state.granted) throw budgetSpent(budget)
    return state
  }
}
