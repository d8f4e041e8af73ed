import { Field } from './components/field.tsx'

interface SignInFieldsProps {
  email: string
  onEmail(email: string): void
  password: string
  onPassword(password: string): void
  /** Problems by field name. */
  problems: Readonly<{ email?: string; password?: string }>
  focus: 'email' | 'password'
}

/** The fields of a member's e-mail address and password, which password managers fill in. */
export function SignInFields(props: SignInFieldsProps) {
  const { email, onEmail, password, onPassword, problems, focus } = props
  return (
    <>
      <Field
        label="E-mail address"
        type="email"
        autoComplete="username"
        value={email}
        onInput={onEmail}
        problem={problems.email}
        hasFocus={focus === 'email'}
      />
      <Field
        label="Password"
        type="password"
        autoComplete="current-password"
        value={password}
        onInput={onPassword}
        problem={problems.password}
        hasFocus={focus === 'password'}
      />
    </>
  )
}
