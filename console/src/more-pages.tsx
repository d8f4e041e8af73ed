import { NotFoundPage } from './components/page.tsx'
import { home } from './navigation.tsx'
import { AccountPage } from './pages/account.tsx'
import { ActivityPage } from './pages/activity.tsx'
import { CertificatePage, FormerCertificatePage } from './pages/certificate.tsx'
import { EraseListPage } from './pages/erase-list.tsx'
import { ErasuresPage } from './pages/erasures.tsx'
import { MissingFactorPage } from './pages/factor-cards.tsx'
import { KeyPage } from './pages/key.tsx'
import { KeysPage } from './pages/keys.tsx'
import { MembersPage } from './pages/members.tsx'
import { PersonPage } from './pages/person.tsx'
import { ReplyTextsPage } from './pages/reply-texts.tsx'
import { RequestGroupPage } from './pages/request-group.tsx'
import { RequestReportPage } from './pages/request-report.tsx'
import { SettingsPage } from './pages/settings.tsx'
import { SubjectPage } from './pages/subject.tsx'
import { TrackerPage } from './pages/tracker.tsx'
import { TrackersPage } from './pages/trackers.tsx'
import { VariablesPage } from './pages/variables.tsx'
import { groupAddress } from './requests.ts'
import { Redirect, route } from './router.tsx'
import { For } from './session.tsx'

/** The pages of the second script, which is loaded when one of them is opened. */
export const morePages = [
  route('/console/second-factor', () => <MissingFactorPage />),
  route('/console/trackers', () => <TrackersPage />),
  route('/console/trackers/:trackerId/subjects/:subjectId', (ids) => <SubjectPage {...ids} />),
  route('/console/trackers/:trackerId', ({ trackerId }) => <TrackerPage trackerId={trackerId} />),
  route('/console/trackers/:trackerId/variables', (ids) => <VariablesPage {...ids} />),
  route('/console/batches', () => <Redirect to={home} />),
  route('/console/batches/new', () => <Redirect to="/console/requests/erase-list" />),
  route('/console/batches/:batchId', ({ batchId }) => <Redirect to={groupAddress(batchId)} />),
  route('/console/erasures', () => <ErasuresPage />),
  route('/console/erasures/certificates/:of', (ids) => <CertificatePage {...ids} />),
  route('/console/erasures/:indexes', (ids) => <FormerCertificatePage {...ids} />),
  route('/console/requests/erase-list', () => (
    <For least="desk" otherwise={<NotFoundPage />}>
      <EraseListPage />
    </For>
  )),
  route('/console/requests/group', () => <RequestGroupPage />),
  route('/console/requests/report', () => <RequestReportPage />),
  route('/console/keys', () => <KeysPage />),
  route('/console/keys/:keyId', (ids) => <KeyPage {...ids} />),
  route('/console/activity', () => <ActivityPage />),
  route('/console/account', () => <AccountPage />),
  route('/console/members', () => <MembersPage />),
  route('/console/person', () => <PersonPage />),
  route('/console/settings', () => <SettingsPage />),
  route('/console/settings/replies', () => <ReplyTextsPage />),
]
