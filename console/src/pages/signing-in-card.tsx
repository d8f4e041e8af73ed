import { useState } from 'preact/hooks'
import { change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Failure } from '../components/field.tsx'
import { Loaded } from '../components/states.tsx'
import { showToast } from '../components/toasts.tsx'
import { useForm } from '../form.ts'
import { refresh, useResource } from '../resource.ts'
import type { SignInRules } from '../types.ts'
import { ProviderRules } from './provider-rules.tsx'

const rulesPath = '/sign-in-rules'

type Rule = SignInRules['secondFactor']

const rules: { rule: Rule; title: string; hint: string }[] = [
  { rule: 'optional', title: 'Optional', hint: 'A password is enough. Members may add a second factor.' },
  { rule: 'required', title: 'Required', hint: 'Every member needs a passkey or an authenticator app.' },
  { rule: 'passkey', title: 'Passkey', hint: 'Every member needs a passkey. Codes of apps are not enough.' },
]

/** How members may sign in, for admins. */
export function SigningInCard() {
  const current = useResource<SignInRules>(rulesPath)
  return (
    <section class="card" aria-labelledby="signing-in">
      <header>
        <h2 id="signing-in">Signing in</h2>
      </header>
      <Loaded resource={current} lines={4}>
        {(data) => (
          <>
            <SecondFactorForm key={data.secondFactor} current={data.secondFactor} />
            <ProviderRules rules={data} />
          </>
        )}
      </Loaded>
    </section>
  )
}

function SecondFactorForm({ current }: { current: Rule }) {
  const [chosen, choose] = useState(current)
  const form = useForm()
  return (
    <form
      onSubmit={form.submit(async () => {
        await change(`${rulesPath}/second-factor`, { secondFactor: chosen })
        showToast('Rule saved')
        await refresh(rulesPath)
      })}
    >
      <fieldset class="scopes">
        <legend>Second factor</legend>
        {rules.map(({ rule, title, hint }) => (
          <label key={rule} class="scope">
            <input
              type="radio"
              name="second-factor"
              checked={rule === chosen}
              onChange={() => choose(rule)}
            />
            <span>
              {title}
              <small>{hint}</small>
            </span>
          </label>
        ))}
      </fieldset>
      <p class="note">
        The rule applies from the next request on. Members who lack the factor can do nothing else before they
        add it.
      </p>
      <Failure failure={form.failure} />
      <Button type="submit" kind="primary" isBusy={form.isBusy} isDisabled={chosen === current}>
        Save the rule
      </Button>
    </form>
  )
}
