import { LetheError } from '../../domain/errors.ts'
import { formatInstantOrNull } from '../../domain/instant.ts'
import type { LedgerEntry } from '../../domain/ledger.ts'
import { instantOf, parseRecord } from '../../domain/ledger-record.ts'
import {
  type LedgerHead,
  type ProvenEntry as ProvenLedgerEntry,
  proveEntry,
  readLedger,
} from '../../operations/ledger.ts'
import { verifyLedger } from '../../operations/verify-ledger.ts'
import { identityOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { integer, list, object, orNull, text } from '../schema.ts'
import { instant, wholeCount } from './fields.ts'

const Ledger = object(
  {
    ...{ origin: text(), size: integer(), rootHash: text(), checkpoint: text(), verifierKeys: list(text()) },
    lastEntryAt: orNull(instant),
  },
  { title: 'Ledger' },
)

const LedgerVerification = object(
  { size: integer(), rootHash: text(), problem: orNull(text()) },
  { title: 'LedgerVerification' },
)

/** Downloaded by a link; no page reads it. */
const ProvenEntry = object(
  { index: integer(), record: text(), leafHash: text(), proof: list(text()), checkpoint: text() },
  { title: 'ProvenEntry' },
)

export const provenEntryParameters = {
  index: wholeCount('a whole number, 0 or more'),
}

/** How many entries a member can have recomputed: a few seconds of work, in slices. */
const maxVerified = 100_000

export const ledgerRoutes = [
  defineRoute({
    method: 'GET',
    path: '/console/api/ledger',
    access: 'viewer',
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
    access: 'viewer',
    body: {},
    response: LedgerVerification,
    async handle({ services, context }) {
      const { organisationId } = identityOf(context)
      const { size } = await readLedger(services, organisationId)
      if (size > maxVerified) {
        throw new LetheError(
          'invalid_request',
          `The ledger has more than ${maxVerified} entries. Run "lethe ledger verify" on the server instead.`,
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
    access: 'viewer',
    query: provenEntryParameters,
    response: ProvenEntry,
    async handle({ services, context, query }) {
      return presentProvenEntry(await proveEntry(services, identityOf(context).organisationId, query.index))
    },
  }),
]

function presentProvenEntry({ index, record, leafHash, proof, checkpoint }: ProvenLedgerEntry) {
  return { index, record, leafHash: Buffer.from(leafHash).toString('base64'), proof, checkpoint }
}

function presentLedger(
  { origin, size, rootHash, checkpoint, verifierKeys }: LedgerHead,
  last: LedgerEntry | null,
) {
  const record = last && parseRecord(last.record)
  return {
    ...{ origin, size, rootHash: Buffer.from(rootHash).toString('base64'), checkpoint, verifierKeys },
    lastEntryAt: formatInstantOrNull(record && instantOf(record)),
  }
}
