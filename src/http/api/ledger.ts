import type { LedgerEntry as StoredEntry } from '../../domain/ledger.ts'
import { listEntries, planEntryList, proveConsistency, readLedger } from '../../operations/ledger.ts'
import { identityOf } from '../request-context.ts'
import { defineRoute } from '../route.ts'
import { count, integer, list, object, text } from '../schema.ts'
import {
  exampleCheckpoint,
  exampleEntries,
  exampleHead,
  exampleOrigin,
  exampleVerifierKey,
} from './examples.ts'
import { nextCursor, page, pageParameters } from './fields.ts'

export const entryListParameters = pageParameters

const consistencyParameters = {
  from: integer({
    format: 'int64',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'The size of the ledger in the earlier checkpoint; at most its current size.',
    'x-rule': 'a whole number from 0 to the number of entries in the ledger',
  }),
}

const base64Hash = { maxLength: 44, pattern: '^[A-Za-z0-9+/]{43}=$' }

const hash = (description: string) =>
  text({ ...base64Hash, description: `${description} SHA-256, in base64.` })

const checkpoint = text({
  description: 'The head of the ledger, signed: a C2SP tlog-checkpoint with Ed25519.',
})

const Ledger = object(
  {
    origin: text({ description: 'The name of the ledger and of its keys.' }),
    size: count('The number of entries.'),
    rootHash: hash('The root of the tree of its entries.'),
    checkpoint,
    verifierKeys: list(text(), {
      description: 'The keys that sign it, in the format of C2SP signed-note; the current one first.',
    }),
  },
  { title: 'Ledger', description: 'The state of an organisation’s erasure ledger.' },
)

const LedgerEntry = object(
  {
    index: count('Its position, starting at 0.'),
    record: text({
      description:
        'What was erased, or that nothing was held about a person (version 2), and when: one line of canonical JSON (RFC 8785). Ignore versions that you do not know; they count in the tree.',
    }),
    leafHash: hash('The hash of the record as a leaf of the tree.'),
  },
  { title: 'LedgerEntry', description: 'An entry of the ledger.' },
)

const EntryList = object({ entries: page(LedgerEntry), nextCursor }, { title: 'EntryList' })

const Consistency = object(
  {
    from: count('The size of the earlier ledger.'),
    to: count('The current size of the ledger.'),
    proof: list(text(base64Hash), { maxItems: 64, description: 'The hashes of the proof, in base64.' }),
    checkpoint,
  },
  { title: 'Consistency', description: 'The proof that a ledger still starts with its earlier entries.' },
)

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
      'The number of entries in the organisation’s ledger, the root of their Merkle tree (RFC 6962, SHA-256), and both signed as a checkpoint. Keep a checkpoint from time to time: then no entry can be removed unnoticed.',
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
      'Oldest first; entries never change. Anyone can compute the root of the tree from them. An entry does not identify anyone; a receipt does.',
    exampleParameters: { limit: 2 },
    exampleAlone: { cursor: 'BHsDZ_X_RwfYWzEsImVudHJ5Il0' },
    example: { entries: exampleEntries, nextCursor: 'EyFl3d4cPY7fWzIsImVudHJ5Il0' },
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
      'The hashes that lead from the root of the tree of the first `from` entries to the root in the checkpoint (RFC 9162, section 2.1.4). Anyone who kept a checkpoint of that size can verify that its entries are still there.',
    exampleParameters: { from: 0 },
    example: { from: 0, to: exampleHead.size, proof: [], checkpoint: exampleCheckpoint },
  },
  async handle({ services, context, query }) {
    const { organisationId } = identityOf(context)
    const { proof, ...rest } = await proveConsistency(services, organisationId, query.from)
    return { ...rest, proof: proof.map(base64) }
  },
})

function presentEntry({ index, record, leafHash }: StoredEntry) {
  return { index, record, leafHash: base64(leafHash) }
}

function base64(hash: Uint8Array): string {
  return Buffer.from(hash).toString('base64')
}
