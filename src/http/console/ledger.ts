import { LetheError } from '../../domain/errors.ts'
import { proveEntry, readLedger } from '../../operations/ledger.ts'
import { verifyLedger } from '../../operations/verify-ledger.ts'
import { identityOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import {
  Ledger,
  LedgerVerification,
  ProvenEntry,
  presentLedger,
  presentProvenEntry,
  provenEntryParameters,
} from './fields.ts'

/** How many entries are computed anew at a member's wish: a few seconds of work, in pieces. */
const mostVerified = 100_000

export const ledgerRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/ledger',
    access: 'member',
    response: Ledger,
    async handle({ services, context }) {
      const { organisationId } = identityOf(context)
      const head = await readLedger(services, organisationId)
      const [last] = await services.ledger.list(organisationId, head.size - 1, 1)
      return presentLedger(head, last ?? null)
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/console/api/ledger/verify',
    access: 'member',
    body: {},
    response: LedgerVerification,
    async handle({ services, context }) {
      const { organisationId } = identityOf(context)
      const { size } = await readLedger(services, organisationId)
      if (size > mostVerified) {
        throw new LetheError(
          'invalid_request',
          `The ledger has more than ${mostVerified} entries. Run "lethe ledger verify" on the server instead.`,
        )
      }
      const { gone } = context
      const { head, problem } = await services.jobs.run(
        organisationId,
        (giveWay) => verifyLedger(services, organisationId, { onEntries: giveWay, signal: gone }),
        gone,
      )
      return { size: head.size, rootHash: Buffer.from(head.rootHash).toString('base64'), problem }
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/console/api/ledger/entry',
    access: 'member',
    query: provenEntryParameters,
    response: ProvenEntry,
    async handle({ services, context, query }) {
      return presentProvenEntry(await proveEntry(services, identityOf(context).organisationId, query.index))
    },
  }),
]
