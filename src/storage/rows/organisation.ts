import type { Organisation } from '../../domain/organisation.ts'
import { isPlan, type Plan } from '../../domain/plan.ts'
import { integer, type Row, text } from './row.ts'

export function toOrganisation(row: Row): Organisation {
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    plan: toPlan(row),
    createdAt: integer(row, 'created_at'),
  }
}

export function toPlan(row: Row): Plan {
  const plan = text(row, 'plan')
  if (!isPlan(plan)) throw new Error(`The store holds a plan "${plan}" that this program does not know.`)
  return plan
}
