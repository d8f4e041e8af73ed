import { useState } from 'preact/hooks'
import { change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Choice, Failure } from '../components/field.tsx'
import { TextArea } from '../components/text-area.tsx'
import { showToast } from '../components/toasts.tsx'
import { useForm } from '../form.ts'
import { refresh } from '../resource.ts'
import type { SignInRules } from '../types.ts'

const rulesPath = '/sign-in-rules'

/** Who may join by single sign-on, and whether passwords are accepted besides it. */
export function ProviderRules({ rules }: { rules: SignInRules }) {
  const { provider } = rules
  if (provider === null) {
    return (
      <>
        <p class="muted">
          Single sign-on is not set up. Your operator can connect an identity provider with{' '}
          <code>LETHE_OIDC_ISSUER</code>.
        </p>
        {!rules.passwordAllowed && <Passwords rules={rules} provider={null} />}
      </>
    )
  }
  return (
    <>
      <Domains rules={rules} provider={provider} />
      <Passwords rules={rules} provider={provider} />
    </>
  )
}

interface PartProps {
  rules: SignInRules
  provider: string
}

/** `null` if single sign-on is no longer set up, and the rule against passwords has no effect. */
type PasswordProps = Omit<PartProps, 'provider'> & { provider: string | null }

const roles = [
  ['viewer', 'Viewer'],
  ['desk', 'Desk'],
  ['admin', 'Admin'],
] as const

/** Who may join without an invitation. */
function Domains({ rules, provider }: PartProps) {
  const [text, setText] = useState(rules.domains.join('\n'))
  const [role, setRole] = useState<SignInRules['domainRole']>(rules.domainRole)
  const form = useForm('domains')
  async function save(): Promise<void> {
    const domains = text.split(/[\s,;]+/).filter((domain) => domain !== '')
    await change(`${rulesPath}/domains`, { domains, domainRole: role })
    showToast('Allowed domains saved')
    await refresh(rulesPath)
  }
  return (
    <form noValidate onSubmit={form.submit(save)}>
      <TextArea
        label="Allowed domains"
        value={text}
        rows={3}
        onInput={setText}
        problem={form.fields.domains}
        hint={`One per line. Everyone with an address at one of these domains that ${provider} has confirmed can join without an invitation. Never list a domain of a public e-mail service.`}
      />
      <Choice
        label="Role of people who join this way"
        value={role}
        choices={roles}
        onChange={(each) => setRole(each)}
      />
      <Failure failure={form.failure} />
      <Button type="submit" isBusy={form.isBusy}>
        Save allowed domains
      </Button>
    </form>
  )
}

/** Whether a password is enough. */
function Passwords({ rules: { passwordAllowed }, provider }: PasswordProps) {
  const form = useForm()
  async function save(): Promise<void> {
    await change(`${rulesPath}/password`, { passwordAllowed: !passwordAllowed })
    showToast(passwordAllowed ? 'Passwords are no longer accepted' : 'Passwords are accepted again')
    await refresh(rulesPath)
  }
  return (
    <form onSubmit={form.submit(save)}>
      <p>{passwordNote(passwordAllowed, provider)}</p>
      <Failure failure={form.failure} />
      <Button type="submit" isBusy={form.isBusy}>
        {passwordAllowed ? 'Stop accepting passwords' : 'Accept passwords again'}
      </Button>
    </form>
  )
}

function passwordNote(isAllowed: boolean, provider: string | null): string {
  if (provider === null)
    return 'An admin decided that passwords are not accepted. That has no effect without single sign-on.'
  if (isAllowed)
    return `Members can sign in with a password or with ${provider}. You can require ${provider} or a passkey once you have signed in with ${provider} yourself.`
  return `Passwords are not accepted. Members sign in with ${provider} or a passkey. If ${provider} fails, your operator can create a link that signs a member in.`
}
