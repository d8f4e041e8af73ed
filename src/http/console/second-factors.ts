import { formatInstant, formatInstantOrNull } from '../../domain/instant.ts'
import type { Passkey as StoredPasskey } from '../../domain/passkey.ts'
import { secondFactorRules } from '../../domain/sign-in-rules.ts'
import { addPasskey, beginPasskey, removePasskey, renamePasskey } from '../../operations/passkey.ts'
import { replaceRecoveryCodes } from '../../operations/recovery-code.ts'
import { factorsOf } from '../../operations/second-factor.ts'
import { beginTotp, confirmTotp, removeTotp } from '../../operations/totp.ts'
import { originOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { boolean, integer, list, object, oneOf, orNull, text } from '../schema.ts'
import { instant, Nothing, typed } from './fields.ts'
import { code, madePasskey, PasskeyCreation } from './passkey-fields.ts'
import { token } from './sign-in.ts'

const Passkey = object(
  { id: text(), name: text(), createdAt: instant, lastUsedAt: orNull(instant), isBackedUp: boolean() },
  { title: 'Passkey' },
)

const SecondFactors = object(
  {
    passkeys: list(Passkey),
    totp: orNull(object({ setAt: instant })),
    recoveryCodes: integer(),
    /** What the organisation requires. */
    rule: oneOf(secondFactorRules),
  },
  { title: 'SecondFactors' },
)

/** The codes are shown once; `null` if the member has codes already. */
const AddedFactor = object({ recoveryCodes: orNull(list(text())) }, { title: 'AddedFactor' })

const RecoveryCodes = object({ recoveryCodes: list(text()) }, { title: 'RecoveryCodes' })

const TotpOffer = object({ token: text(), secret: text(), uri: text() }, { title: 'TotpOffer' })

/** A member's own second factors. If the organisation requires one, it can be added before anything else. */
const own = { access: 'viewer', isEnrolment: true, bodyNamesNobody: true } as const
const change = { ...own, recentSignIn: true } as const

export const secondFactorRoutes = [
  defineRoute({
    ...{ ...own, method: 'GET', path: '/console/api/account/second-factors' },
    response: SecondFactors,
    async handle({ services, signedIn: { member } }) {
      const { rule, passkeys, totp, recoveryCodes } = await factorsOf(services, member)
      return {
        passkeys: passkeys.map(presentPasskey),
        totp: totp && { setAt: formatInstant(totp.setAt) },
        ...{ recoveryCodes, rule },
      }
    },
  }),
  defineRoute({
    ...{ ...change, method: 'POST', path: '/console/api/account/passkeys/options' },
    body: {},
    response: PasskeyCreation,
    async handle({ services, context, http, signedIn: { member } }) {
      return beginPasskey(services, member, http.requireRelyingParty(context))
    },
  }),
  defineRoute({
    ...{ ...change, method: 'POST', path: '/console/api/account/passkeys' },
    body: { name: typed, response: madePasskey },
    response: AddedFactor,
    async handle({ services, context, http, signedIn, body }) {
      const relyingParty = http.requireRelyingParty(context)
      const { recoveryCodes } = await addPasskey(services, signedIn, body, relyingParty, originOf(context))
      return { recoveryCodes }
    },
  }),
  defineRoute({
    ...{ ...change, method: 'POST', path: '/console/api/account/passkeys/{passkeyId}/rename' },
    body: { name: typed },
    response: Nothing,
    async handle({ services, context, signedIn: { member }, path, body }) {
      await renamePasskey(services, member, { ...path, ...body }, originOf(context))
      return {}
    },
  }),
  defineRoute({
    ...{ ...change, method: 'DELETE', path: '/console/api/account/passkeys/{passkeyId}' },
    body: {},
    response: Nothing,
    async handle({ services, context, signedIn: { member }, path }) {
      await removePasskey(services, member, path.passkeyId, originOf(context))
      return {}
    },
  }),
  defineRoute({
    ...{ ...change, method: 'POST', path: '/console/api/account/totp/offer' },
    body: {},
    response: TotpOffer,
    handle: ({ services, signedIn: { member, organisation } }) => beginTotp(services, member, organisation),
  }),
  defineRoute({
    ...{ ...change, method: 'POST', path: '/console/api/account/totp' },
    body: { token, code },
    response: AddedFactor,
    handle: ({ services, context, signedIn, body }) =>
      confirmTotp(services, signedIn, body, originOf(context)),
  }),
  defineRoute({
    ...{ ...change, method: 'DELETE', path: '/console/api/account/totp' },
    body: {},
    response: Nothing,
    async handle({ services, context, signedIn: { member } }) {
      await removeTotp(services, member, originOf(context))
      return {}
    },
  }),
  defineRoute({
    ...{ ...change, method: 'POST', path: '/console/api/account/recovery-codes' },
    body: {},
    response: RecoveryCodes,
    async handle({ services, context, signedIn: { member } }) {
      return { recoveryCodes: await replaceRecoveryCodes(services, member, originOf(context)) }
    },
  }),
]

function presentPasskey({ id, name, createdAt, lastUsedAt, isBackedUp }: StoredPasskey) {
  return {
    ...{ id, name, isBackedUp },
    ...{ createdAt: formatInstant(createdAt), lastUsedAt: formatInstantOrNull(lastUsedAt) },
  }
}
