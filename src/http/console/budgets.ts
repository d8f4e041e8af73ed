import type { Budget, ConsoleBudgetName } from '../../domain/budget.ts'

const minuteMs = 60_000

/**
 * What the console counts, apart from the API's budgets. The first is generous: people click. The others slow down guessing; the last
 * one holds for guessers with many addresses, and never for a browser that the member has signed in from before.
 */
export const consoleBudgets: Record<ConsoleBudgetName, Budget> = {
  console: { name: 'console', limit: 600, windowMs: minuteMs },
  'sign-in': { name: 'sign-in', limit: 30, windowMs: 15 * minuteMs },
  account: { name: 'account', limit: 10, windowMs: 15 * minuteMs },
  strangers: { name: 'strangers', limit: 100, windowMs: 60 * minuteMs },
}
