import { change } from '../api.ts'
import { Choice } from '../components/field.tsx'
import { Page } from '../components/page.tsx'
import { showFailure, showToast } from '../components/toasts.tsx'
import { languages } from '../replies.ts'
import { refresh } from '../resource.ts'
import { roleHints, roleTitles } from '../roles.ts'
import { useSession } from '../session.tsx'
import { ThemeSwitch } from '../theme-switch.tsx'
import { SessionsCard } from './account-sessions.tsx'
import { FactorCards } from './factor-cards.tsx'
import { PasswordCard } from './password-card.tsx'

/** The member's own account: who they are, how they sign in and from where, and how the console looks. */
export function AccountPage() {
  const { member } = useSession()
  return (
    <Page title="Your account" intro={member.email}>
      <WhoCard />
      <PasswordCard />
      <FactorCards />
      <SessionsCard />
      <AppearanceCard />
    </Page>
  )
}

function WhoCard() {
  const { member, organisation } = useSession()
  return (
    <section class="card" aria-labelledby="who">
      <header>
        <h2 id="who">Profile</h2>
      </header>
      <dl class="facts">
        <div>
          <dt>E-mail address</dt>
          <dd>{member.email}</dd>
        </div>
        <div>
          <dt>Organisation</dt>
          <dd>{organisation.name}</dd>
        </div>
        <div>
          <dt>Role</dt>
          <dd>
            {roleTitles[member.role]}
            <p class="muted">{roleHints[member.role]}</p>
          </dd>
        </div>
      </dl>
    </section>
  )
}

const languageChoices = [['organisation', 'Same as the organisation'], ...languages] as const

function AppearanceCard() {
  const { language } = useSession()
  function choose(chosen: (typeof languageChoices)[number][0]): void {
    change('/account/language', { language: chosen === 'organisation' ? null : chosen })
      .then(() => refresh('/session'))
      .then(() => showToast('Language saved'), showFailure)
  }
  return (
    <section class="card" aria-labelledby="appearance">
      <header>
        <h2 id="appearance">Language and theme</h2>
      </header>
      <Choice
        label="Language of certificates and replies"
        value={language ?? 'organisation'}
        choices={languageChoices}
        onChange={choose}
      />
      <p class="note">
        Certificates and replies start in this language, and you can change it for each. The console is in
        English.
      </p>
      <ThemeSwitch hasLabel />
      <p class="note">The theme applies to this browser.</p>
    </section>
  )
}
