import { proveEntry } from '../../../operations/ledger/prove-entry.ts'
import { identityOf } from '../../request-context.ts'
import { defineRoute } from '../../route.ts'
import { presentProvenEntry } from '../present.ts'
import { ProvenEntry } from '../resources.ts'
import { provenEntryParameters } from '../schemas.ts'

export const ledgerRoutes = [
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
