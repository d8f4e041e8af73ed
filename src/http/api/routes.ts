import type { Route } from '../request-context.ts'
import { ingestBatchRoute } from './batches.ts'
import {
  cancelRequestRoute,
  closeRequestRoute,
  eraseRequestRoute,
  extendRequestRoute,
  rejectRequestRoute,
} from './change-request.ts'
import { listEventsRoute } from './events.ts'
import { exportSubjectRoute } from './export.ts'
import { listEntriesRoute, proveConsistencyRoute, readLedgerRoute } from './ledger.ts'
import { listReceiptsRoute } from './receipts.ts'
import { readCertificateRoute } from './request-certificate.ts'
import { exportRequestRoute } from './request-export.ts'
import { createRequestRoute, listRequestsRoute, readRequestRoute } from './requests.ts'
import { searchSubjectsRoute } from './search-subjects.ts'
import { listSessionsRoute } from './sessions.ts'
import { eraseSubjectRoute, listSubjectsRoute, readSubjectRoute } from './subjects.ts'

/** Every operation of the API. */
export const apiRoutes: readonly Route[] = [
  listSubjectsRoute,
  readSubjectRoute,
  eraseSubjectRoute,
  searchSubjectsRoute,
  listSessionsRoute,
  listEventsRoute,
  exportSubjectRoute,
  listReceiptsRoute,
  readLedgerRoute,
  listEntriesRoute,
  proveConsistencyRoute,
  createRequestRoute,
  listRequestsRoute,
  readRequestRoute,
  extendRequestRoute,
  rejectRequestRoute,
  cancelRequestRoute,
  closeRequestRoute,
  exportRequestRoute,
  eraseRequestRoute,
  readCertificateRoute,
  ingestBatchRoute,
]
