import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe } from 'node:test'
import type { Store } from '../../src/domain/store.ts'
import { activityContract } from './contract/activity.ts'
import { ageingContract } from './contract/ageing.ts'
import { ageingModelContract } from './contract/ageing-model.ts'
import { apiKeyContract } from './contract/api-key.ts'
import { approvalContract } from './contract/approval.ts'
import { concurrentChangesContract } from './contract/concurrent-changes.ts'
import { dailyTotalContract } from './contract/daily-total.ts'
import { deletionContract } from './contract/deletion.ts'
import { deletionRaceContract } from './contract/deletion-races.ts'
import { erasureContract } from './contract/erasure.ts'
import { eventContract } from './contract/event.ts'
import { Fixture } from './contract/fixture.ts'
import { identifierContract } from './contract/identifier.ts'
import { identifierDerivationContract } from './contract/identifier-derivation.ts'
import { ingestContract } from './contract/ingest.ts'
import { interleavingContract } from './contract/interleaving.ts'
import { ledgerContract } from './contract/ledger.ts'
import { lifeContract } from './contract/life.ts'
import { maintenanceContract } from './contract/maintenance.ts'
import { memberContract } from './contract/member.ts'
import { organisationContract } from './contract/organisation.ts'
import { organisationProfileContract } from './contract/organisation-profile.ts'
import { pageBytesContract } from './contract/page-bytes.ts'
import { privacyRequestContract } from './contract/privacy-request.ts'
import { requestGroupContract } from './contract/request-group.ts'
import { requestHandlingContract } from './contract/request-handling.ts'
import { requestReportContract } from './contract/request-report.ts'
import { retentionContract } from './contract/retention.ts'
import { retentionWindowContract } from './contract/retention-window.ts'
import { secondFactorContract } from './contract/second-factor.ts'
import { secretContract } from './contract/secret.ts'
import { sessionContract } from './contract/session.ts'
import { signInContract } from './contract/sign-in.ts'
import { singleSignOnContract } from './contract/single-sign-on.ts'
import { subjectContract } from './contract/subject.ts'
import { subjectExportContract } from './contract/subject-export.ts'
import { subjectListContract } from './contract/subject-list.ts'
import { subjectSearchContract } from './contract/subject-search.ts'
import { trackerContract } from './contract/tracker.ts'
import { transferContract } from './contract/transfer.ts'
import { variableContract } from './contract/variable.ts'

/** The behaviour that every engine shares. `open` opens the store in a folder, or creates it. */
export function storeContract(name: string, open: (folder: string) => Promise<Store>): void {
  describe(name, () => {
    const folder = mkdtempSync(join(tmpdir(), 'lethe-contract-'))
    const fixture = new Fixture()
    before(async () => fixture.use(await open(join(folder, 'shared'))))
    after(async () => {
      await fixture.store.close()
      rmSync(folder, { recursive: true, force: true })
    })
    lifeContract(folder, open)
    organisationContract(fixture)
    organisationProfileContract(fixture)
    trackerContract(fixture)
    apiKeyContract(fixture)
    variableContract(fixture)
    ingestContract(fixture)
    subjectListContract(fixture)
    subjectContract(fixture)
    identifierContract(fixture)
    identifierDerivationContract(fixture)
    subjectSearchContract(fixture)
    subjectExportContract(fixture)
    sessionContract(fixture)
    eventContract(fixture)
    pageBytesContract(fixture)
    interleavingContract(fixture)
    erasureContract(fixture)
    privacyRequestContract(fixture)
    requestGroupContract(fixture)
    approvalContract(fixture)
    requestHandlingContract(fixture)
    requestReportContract(fixture)
    ledgerContract(fixture)
    secretContract(folder, open)
    ageingContract(fixture)
    retentionContract(fixture)
    retentionWindowContract(fixture)
    ageingModelContract(fixture)
    dailyTotalContract(fixture)
    deletionContract(fixture)
    deletionRaceContract(fixture)
    concurrentChangesContract(fixture)
    memberContract(fixture)
    signInContract(fixture)
    singleSignOnContract(fixture)
    secondFactorContract(fixture)
    activityContract(fixture)
    maintenanceContract(fixture, folder, open)
    transferContract(folder, open)
  })
}
