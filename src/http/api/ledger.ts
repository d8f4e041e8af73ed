import type { LedgerEntry } from '../../domain/ledger.ts'
import { listEntries, planEntryList, proveConsistency, readLedger } from '../../operations/ledger.ts'
import { identityOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import {
  exampleCheckpoint,
  exampleEntry,
  exampleHead,
  exampleOrigin,
  exampleVerifierKey,
} from './examples.ts'
import { Consistency, consistencyParameters, EntryList, entryListParameters, Ledger } from './fields.ts'

const ledgerPath = '/v1/analytics/ledger'
const tag = 'Erasure ledger'

export const readLedgerRoute = defineRoute({
  method: 'GET',
  path: ledgerPath,
  access: 'analytics:view',
  response: Ledger,
  documentation: {
    operationId: 'readLedger',
    tag,
    summary: 'Read the head of the erasure ledger',
    description:
      'How many erasures the organisation’s ledger tells of, the root of their Merkle tree (RFC 6962, SHA-256), and both signed as a checkpoint. Keep a checkpoint from time to time, and nobody can take an entry away unnoticed.',
    exampleParameters: {},
    example: {
      origin: exampleOrigin,
      ...exampleHead,
      checkpoint: exampleCheckpoint,
      verifierKeys: [exampleVerifierKey],
    },
  },
  async handle({ services, context }) {
    const { origin, size, rootHash, checkpoint, verifierKeys } = await readLedger(
      services,
      identityOf(context).organisationId,
    )
    return { origin, size, rootHash: base64(rootHash), checkpoint, verifierKeys }
  },
})

export const listEntriesRoute = defineRoute({
  method: 'GET',
  path: `${ledgerPath}/entries`,
  access: 'analytics:view',
  query: entryListParameters,
  response: EntryList,
  documentation: {
    operationId: 'listEntries',
    tag,
    summary: 'List the entries of the erasure ledger',
    description:
      'Oldest first, and nothing in it ever changes. From all of them anybody can compute the root of the tree. An entry does not tell who was erased; a receipt does.',
    exampleParameters: { limit: 2 },
    exampleAlone: { cursor: 'BHsDZ_X_RwfYWzEsImVudHJ5Il0' },
    example: { entries: [exampleEntry], nextCursor: null },
  },
  plan: ({ query }, problems) => planEntryList(query, problems),
  async handle({ services, context, plan }) {
    const { entries, nextCursor } = await listEntries(services, identityOf(context).organisationId, plan)
    return { entries: entries.map(presentEntry), nextCursor }
  },
})

export const proveConsistencyRoute = defineRoute({
  method: 'GET',
  path: `${ledgerPath}/consistency`,
  access: 'analytics:view',
  query: consistencyParameters,
  response: Consistency,
  documentation: {
    operationId: 'proveConsistency',
    tag,
    summary: 'Prove that the erasure ledger has only grown',
    description:
      'The hashes that lead from the root of the tree of the first `from` entries to the root in the checkpoint (RFC 9162, section 2.1.4). Whoever kept a checkpoint of that size can check that whatever it told of is still there.',
    exampleParameters: { from: 0 },
    example: { from: 0, to: 1, proof: [], checkpoint: exampleCheckpoint },
  },
  async handle({ services, context, query }) {
    const { organisationId } = identityOf(context)
    const { proof, ...rest } = await proveConsistency(services, organisationId, query.from)
    return { ...rest, proof: proof.map(base64) }
  },
})

function presentEntry({ index, record, leafHash }: LedgerEntry) {
  return { index, record, leafHash: base64(leafHash) }
}

function base64(hash: Uint8Array): string {
  return Buffer.from(hash).toString('base64')
}
