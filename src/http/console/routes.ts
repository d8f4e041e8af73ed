import type { Route } from '../request-context.ts'
import { accountRoutes } from './account.ts'
import { activityRoutes } from './activity.ts'
import { approvalRoutes } from './approvals.ts'
import { erasureListRoutes } from './erasure-lists.ts'
import { erasureRoutes } from './erasures.ts'
import { keyRoutes } from './keys.ts'
import { ledgerRoutes } from './ledger.ts'
import { memberRoutes } from './members.ts'
import { organisationProfileRoutes } from './organisation-profile.ts'
import { personRoutes } from './person.ts'
import { replyTextRoutes } from './reply-texts.ts'
import { requestDocumentRoutes } from './request-documents.ts'
import { requestGroupRoutes } from './request-groups.ts'
import { requestHandlingRoutes } from './request-handling.ts'
import { requestReportRoutes } from './request-report.ts'
import { requestRoutes } from './requests.ts'
import { secondFactorRoutes } from './second-factors.ts'
import { settingsRoutes } from './settings.ts'
import { signInRoutes } from './sign-in.ts'
import { signInRulesRoutes } from './sign-in-rules.ts'
import { singleSignOnRoutes } from './single-sign-on.ts'
import { subjectRoutes } from './subjects.ts'
import { trackerRoutes } from './trackers.ts'
import { variableTokenRoutes } from './variable-tokens.ts'
import { variableRoutes } from './variables.ts'
import { verificationRoutes } from './verification.ts'

/** All requests of the console's pages. */
export const consoleRoutes: readonly Route[] = [
  ...signInRoutes,
  ...singleSignOnRoutes,
  ...accountRoutes,
  ...verificationRoutes,
  ...secondFactorRoutes,
  ...signInRulesRoutes,
  ...keyRoutes,
  ...trackerRoutes,
  ...variableRoutes,
  ...variableTokenRoutes,
  ...subjectRoutes,
  ...personRoutes,
  ...requestRoutes,
  ...approvalRoutes,
  ...requestHandlingRoutes,
  ...requestDocumentRoutes,
  ...requestGroupRoutes,
  ...erasureListRoutes,
  ...activityRoutes,
  ...ledgerRoutes,
  ...erasureRoutes,
  ...memberRoutes,
  ...settingsRoutes,
  ...organisationProfileRoutes,
  ...replyTextRoutes,
  ...requestReportRoutes,
]
