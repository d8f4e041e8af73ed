import { ActivityPage } from './pages/activity.tsx'
import { BatchPage } from './pages/batch.tsx'
import { BatchesPage } from './pages/batches.tsx'
import { CertificatePage, FormerCertificatePage } from './pages/certificate.tsx'
import { ErasuresPage } from './pages/erasures.tsx'
import { KeyPage } from './pages/key.tsx'
import { KeysPage } from './pages/keys.tsx'
import { MembersPage } from './pages/members.tsx'
import { NewBatchPage } from './pages/new-batch.tsx'
import { PersonPage } from './pages/person.tsx'
import { ReplyTextsPage } from './pages/reply-texts.tsx'
import { RequestReportPage } from './pages/request-report.tsx'
import { SettingsPage } from './pages/settings.tsx'
import { SubjectPage } from './pages/subject.tsx'
import { TrackerPage } from './pages/tracker.tsx'
import { TrackersPage } from './pages/trackers.tsx'
import { VariablesPage } from './pages/variables.tsx'
import { route } from './router.tsx'

/** The pages of the second script, which is loaded when one of them is opened. */
export const morePages = [
  route('/console/trackers', () => <TrackersPage />),
  route('/console/trackers/:trackerId/subjects/:subjectId', (ids) => <SubjectPage {...ids} />),
  route('/console/trackers/:trackerId', ({ trackerId }) => <TrackerPage trackerId={trackerId} />),
  route('/console/trackers/:trackerId/variables', (ids) => <VariablesPage {...ids} />),
  route('/console/batches', () => <BatchesPage />),
  route('/console/batches/new', () => <NewBatchPage />),
  route('/console/batches/:batchId', (ids) => <BatchPage {...ids} />),
  route('/console/erasures', () => <ErasuresPage />),
  route('/console/erasures/certificates/:of', (ids) => <CertificatePage {...ids} />),
  route('/console/erasures/:indexes', (ids) => <FormerCertificatePage {...ids} />),
  route('/console/requests/report', () => <RequestReportPage />),
  route('/console/keys', () => <KeysPage />),
  route('/console/keys/:keyId', (ids) => <KeyPage {...ids} />),
  route('/console/activity', () => <ActivityPage />),
  route('/console/members', () => <MembersPage />),
  route('/console/person', () => <PersonPage />),
  route('/console/settings', () => <SettingsPage />),
  route('/console/settings/replies', () => <ReplyTextsPage />),
]
