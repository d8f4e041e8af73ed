import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { change } from './api.ts'
import { Button } from './components/button.tsx'
import { Confirm } from './components/dialog.tsx'
import { Icon } from './components/icon.tsx'
import { showFailure, showToast } from './components/toasts.tsx'
import { NavLinks, otherPages } from './navigation.tsx'
import { roleTitles } from './roles.ts'
import { Link, leavePage } from './router.tsx'
import { completeSignOut, useSession } from './session.tsx'
import { ThemeSwitch } from './theme-switch.tsx'

/** The signed-in member, the theme, and signing out. */
export function AccountMenu({ path }: { path: string }) {
  const { member, organisation } = useSession()
  const [isOpen, setOpen] = useState(false)
  const [isLeavingAll, setLeavingAll] = useState(false)
  const menu = useRef<HTMLDivElement>(null)
  const opener = useRef<HTMLButtonElement>(null)

  useLayoutEffect(() => setOpen(false), [path])
  useLayoutEffect(() => {
    if (!isOpen) return
    const closeOutside = (event: Event) => {
      if (event.target instanceof Node && !menu.current?.contains(event.target)) setOpen(false)
    }
    const closeByKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return
      setOpen(false)
      opener.current?.focus()
    }
    document.addEventListener('pointerdown', closeOutside)
    document.addEventListener('keydown', closeByKey)
    return () => {
      document.removeEventListener('pointerdown', closeOutside)
      document.removeEventListener('keydown', closeByKey)
    }
  }, [isOpen])

  async function signOut(path: '/sign-out' | '/sign-out-everywhere'): Promise<void> {
    await change(path)
    showToast(path === '/sign-out' ? 'Signed out' : 'Signed out everywhere')
    completeSignOut()
  }

  return (
    <div class="account" ref={menu}>
      <button
        ref={opener}
        type="button"
        class="account-button"
        aria-expanded={isOpen}
        aria-controls="account-menu"
        onClick={() => setOpen(!isOpen)}
      >
        <span class="avatar" aria-hidden="true">
          {member.email.charAt(0).toUpperCase()}
        </span>
        <span class="account-name">
          <span class="visually-hidden">Account: </span>
          {member.email}
        </span>
        <Icon name="down" />
      </button>
      <div id="account-menu" class="account-menu" hidden={!isOpen}>
        <p>
          <strong>{member.email}</strong>
          <small>
            {roleTitles[member.role]} · {organisation.name} · {organisation.plan} plan ·{' '}
            {organisation.retentionDays} days
          </small>
        </p>
        {/* On wide screens these are in the sidebar. */}
        <nav aria-label="More pages" class="nav-links folded">
          <NavLinks of={otherPages} path={path} />
        </nav>
        <Link to="/console/account" class="button quiet">
          <Icon name="person" /> <span>Your account</span>
        </Link>
        <ThemeSwitch />
        <Button
          kind="quiet"
          icon="out"
          onClick={() => leavePage(() => void signOut('/sign-out').catch(showFailure))}
        >
          Sign out
        </Button>
        <Button kind="quiet" icon="out" onClick={() => leavePage(() => setLeavingAll(true))}>
          Sign out everywhere
        </Button>
      </div>
      {isLeavingAll && (
        <Confirm
          title="Sign out everywhere"
          action="Sign out everywhere"
          onConfirm={() => signOut('/sign-out-everywhere')}
          onClose={() => setLeavingAll(false)}
        >
          <p>
            You will be signed out of every browser on every device, including this one. API keys keep
            working.
          </p>
        </Confirm>
      )}
    </div>
  )
}
