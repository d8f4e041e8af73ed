import type { ActivityNote } from '../../domain/activity.ts'
import { roles } from '../../domain/member.ts'
import {
  defaultSignInRules,
  type SecondFactorRule,
  type SignInRules,
  type SignInRulesStore,
  secondFactorRules,
} from '../../domain/sign-in-rules.ts'
import { insertActivity } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { lockOrganisation } from './locks.ts'
import { asJson, integer, known, type Row } from './row.ts'
import { statement } from './statement.ts'

const find = statement(
  `SELECT second_factor, password_allowed, domains, domain_role FROM sign_in_rules
   WHERE organisation_id = :organisationId`,
)
const save = statement(
  `INSERT INTO sign_in_rules (organisation_id, second_factor, password_allowed, domains, domain_role)
   VALUES (:organisationId, :secondFactor, :passwordAllowed, :domains, :domainRole)
   ON CONFLICT (organisation_id) DO UPDATE SET second_factor = excluded.second_factor,
     password_allowed = excluded.password_allowed, domains = excluded.domains,
     domain_role = excluded.domain_role`,
)

export const signInRulesTransactions = {
  async changeSignInRules(
    run: Run,
    organisationId: string,
    changes: Partial<SignInRules>,
    note: ActivityNote,
  ): Promise<boolean> {
    if (!(await lockOrganisation(run, organisationId))) return false
    const [row] = (await run(find, { organisationId })).rows
    const rules = { ...(row ? toSignInRules(row) : defaultSignInRules), ...changes }
    const { passwordAllowed, domains } = rules
    const stored = { passwordAllowed: passwordAllowed ? 1 : 0, domains: JSON.stringify(domains) }
    await run(save, { ...rules, ...stored, organisationId })
    insertActivity(run, note)
    return true
  },
}

export function signInRulesStore(engine: Engine<typeof signInRulesTransactions>): SignInRulesStore {
  return {
    async find(organisationId) {
      const [row] = await engine.read(find, { organisationId })
      return row ? toSignInRules(row) : defaultSignInRules
    },
    change: (organisationId, changes, note) =>
      engine.transact('changeSignInRules', organisationId, changes, note),
  }
}

function toSignInRules(row: Row): SignInRules {
  return {
    secondFactor: toSecondFactorRule(row.second_factor),
    passwordAllowed: integer(row, 'password_allowed') === 1,
    domains: asJson<string[]>(row.domains, 'domains'),
    domainRole: known(roles, row.domain_role, 'a role'),
  }
}

export function toSecondFactorRule(stored: unknown): SecondFactorRule {
  return known(secondFactorRules, stored, 'a rule for second factors')
}
