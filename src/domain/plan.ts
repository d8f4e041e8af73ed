/** What an organisation has signed up for: it decides how long its data is kept. */
export const plans = ['free', 'starter', 'pro', 'business'] as const

export type Plan = (typeof plans)[number]

export function isPlan(text: string): text is Plan {
  return plans.some((plan) => plan === text)
}
