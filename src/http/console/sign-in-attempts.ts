import type { Limiter } from '../../domain/budget.ts'
import type { clientAddress } from '../client-address.ts'
import { spending } from '../pipeline.ts'
import type { HttpTools } from '../request-context.ts'
import { consoleBudgets } from './budgets.ts'

/** Counts attempts to sign in: those from an address, and those on an account. */
export function signInAttempts({
  limiter,
  addressOf,
}: {
  limiter: Pick<Limiter, 'take'>
  addressOf: ReturnType<typeof clientAddress>
}): HttpTools['countAttempt'] {
  const spend = spending(limiter)
  return async (context, account) => {
    const refusal =
      (await spend(consoleBudgets['sign-in'], addressOf(context.request), context)) ??
      (account === null ? null : await spend(consoleBudgets.account, account, context))
    if (refusal) throw refusal
  }
}
