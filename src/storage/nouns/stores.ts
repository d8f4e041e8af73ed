import type { DeletionStore } from '../../domain/deletion.ts'
import type { RetentionStore } from '../../domain/retention.ts'
import { activityStore } from './activity.ts'
import { apiKeyStore } from './api-key.ts'
import { approvalStore } from './approval.ts'
import { dailyTotalStore } from './daily-total.ts'
import { deletionStore } from './deletion.ts'
import type { Engine } from './engine.ts'
import { requestLeaseStore } from './lease-privacy-request.ts'
import { ledgerStore } from './ledger.ts'
import { memberStore } from './member.ts'
import { organisationStore } from './organisation.ts'
import { organisationProfileStore } from './organisation-profile.ts'
import { passkeyStore } from './passkey.ts'
import { privacyRequestStore } from './privacy-request.ts'
import { recoveryCodeStore } from './recovery-code.ts'
import { replayStore } from './replay.ts'
import { replyTextStore } from './reply-text.ts'
import { requestGroupStore } from './request-group.ts'
import { requestHandlingStore } from './request-handling.ts'
import { requestReportStore } from './request-report.ts'
import { retentionStore } from './retention.ts'
import { secondFactorStore } from './second-factor.ts'
import { secretStore } from './secret.ts'
import { signInStore } from './sign-in.ts'
import { signInChallengeStore } from './sign-in-challenge.ts'
import { signInRulesStore } from './sign-in-rules.ts'
import { singleSignOnStore } from './single-sign-on.ts'
import { requestSweepStore } from './sweep-privacy-request.ts'
import { tombstoneStore } from './tombstone.ts'
import { totpStore } from './totp.ts'
import { trackerStore } from './tracker.ts'
import type { SharedTransactions } from './transactions.ts'
import { variableStore } from './variable.ts'
import { variableTokenStore } from './variable-token.ts'

/** How an engine deletes what trackers have collected. */
export interface TrackerSweep extends Pick<RetentionStore, 'sweep' | 'countBefore'> {
  /** Deletes some of a tracker's data, whatever its age. */
  sweepAll: DeletionStore['removeTracker']
}

/** The stores of the nouns that are written once for all engines. */
export function sharedStores(engine: Engine<SharedTransactions>, sweep: TrackerSweep) {
  return {
    organisations: organisationStore(engine),
    organisationProfiles: organisationProfileStore(engine),
    replyTexts: replyTextStore(engine),
    trackers: trackerStore(engine),
    apiKeys: apiKeyStore(engine),
    variables: variableStore(engine),
    variableTokens: variableTokenStore(engine),
    dailyTotals: dailyTotalStore(engine),
    retention: retentionStore(engine, sweep),
    deletions: deletionStore(engine, sweep.sweepAll),
    replay: replayStore(engine),
    members: memberStore(engine),
    signIns: signInStore(engine),
    singleSignOn: singleSignOnStore(engine),
    signInChallenges: signInChallengeStore(engine),
    signInRules: signInRulesStore(engine),
    secondFactors: secondFactorStore(engine),
    passkeys: passkeyStore(engine),
    totp: totpStore(engine),
    recoveryCodes: recoveryCodeStore(engine),
    activity: activityStore(engine),
    approvals: approvalStore(engine),
    privacyRequests: {
      ...privacyRequestStore(engine),
      ...requestLeaseStore(engine),
      ...requestSweepStore(engine),
    },
    requestGroups: requestGroupStore(engine),
    requestHandling: requestHandlingStore(engine),
    requestReports: requestReportStore(engine),
    tombstones: tombstoneStore(engine),
    ledger: ledgerStore(engine),
    secrets: secretStore(engine),
  }
}
