import { useState } from 'preact/hooks'
import { change, encode } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Confirm, Dialog } from '../components/dialog.tsx'
import { CopyField, Failure, Field, GroupProblem } from '../components/field.tsx'
import { Menu, type MenuItem } from '../components/menu.tsx'
import { Page } from '../components/page.tsx'
import { Loaded } from '../components/states.tsx'
import { Table } from '../components/table.tsx'
import { showFailure, showToast } from '../components/toasts.tsx'
import { Badge } from '../components/values.tsx'
import { Ago, When } from '../components/when.tsx'
import { useForm } from '../form.ts'
import { refresh, useResource } from '../resource.ts'
import { type Role, roleHints, roles, roleTitles } from '../roles.ts'
import { flagParam, useSearchParams } from '../search-params.ts'
import { completeSignOut, useMay, useSession } from '../session.tsx'
import type { Invitation, Member, MemberList } from '../types.ts'

type Doing =
  | { what: 'remove' | 'role' | 'reset' | 'factors'; member: Member }
  | { what: 'show'; invited: Invitation }
  | null

export function MembersPage() {
  const { member: me } = useSession()
  const mayManage = useMay('admin')
  const members = useResource<MemberList>('/members')
  const [{ create: isInviting }, setParams] = useSearchParams({ create: flagParam })
  const setInviting = (create: boolean) => setParams({ create })
  const [doing, setDoing] = useState<Doing>(null)
  const stop = () => setDoing(null)
  const show = (invited: Invitation) => setDoing({ what: 'show', invited })
  async function remove({ id, email }: Member): Promise<void> {
    await change(`/members/${encode(id)}`, {}, 'DELETE')
    stop()
    showToast(`Removed ${email}`)
    if (id === me.id) completeSignOut()
    else void refresh('/members')
  }
  /** Creates a new link for a member; the previous one becomes invalid. */
  async function makeLink({ id }: Member): Promise<void> {
    show(await change<Invitation>(`/members/${encode(id)}/link`))
  }
  return (
    <Page
      title="Members"
      intro="People who can sign in to this console. What they can do depends on their role."
      actions={
        mayManage && (
          <Button kind="primary" icon="plus" onClick={() => setInviting(true)}>
            Invite a member
          </Button>
        )
      }
    >
      <Loaded resource={members}>
        {({ members }) => (
          <MemberTable
            {...{ members, me }}
            onLink={(member) => void makeLink(member).catch(showFailure)}
            onDo={(what, member) => setDoing({ what, member })}
          />
        )}
      </Loaded>
      {mayManage && isInviting && (
        <Invite
          onInvited={(invited) => {
            void refresh('/members')
            setInviting(false)
            show(invited)
          }}
          onClose={() => setInviting(false)}
        />
      )}
      {doing?.what === 'show' && <ShowLink invited={doing.invited} onClose={stop} />}
      {doing?.what === 'role' && (
        <ChangeRole member={doing.member} isMe={doing.member.id === me.id} onClose={stop} />
      )}
      {doing?.what === 'reset' && (
        <Confirm
          title={`Reset the password of ${doing.member.email}`}
          action="Create a link"
          onConfirm={() => makeLink(doing.member)}
          onClose={stop}
        >
          <p>
            You get a link with which a new password can be set, once, within a day. Give it to nobody but the
            member. The old password works until then; afterwards the member is signed out everywhere else.
            The activity records that you created the link.
          </p>
        </Confirm>
      )}
      {doing?.what === 'factors' && (
        <Confirm
          title={`Remove the second factors of ${doing.member.email}`}
          action="Remove the second factors"
          kind="danger"
          onConfirm={async () => {
            await change(`/members/${encode(doing.member.id)}/remove-factors`)
            stop()
            showToast(`Removed the second factors of ${doing.member.email}`)
            if (doing.member.id === me.id) completeSignOut()
          }}
          onClose={stop}
        >
          <p>
            For a member who has lost them: passkeys, authenticator app and recovery codes stop working, and
            the member is signed out everywhere. Until they add a new one, they sign in without a second
            factor. The activity records it.
          </p>
        </Confirm>
      )}
      {doing?.what === 'remove' && (
        <Confirm
          title={`Remove ${doing.member.email}`}
          action="Remove the member"
          kind="danger"
          onConfirm={() => remove(doing.member)}
          onClose={stop}
        >
          <p>
            {doing.member.id === me.id ? 'You' : 'They'} will be signed out immediately and cannot sign in
            again without a new invitation. API keys keep working, and the activity log is kept.
          </p>
        </Confirm>
      )}
    </Page>
  )
}

interface MemberTableProps {
  members: Member[]
  me: Member
  onLink(member: Member): void
  onDo(what: 'remove' | 'role' | 'reset' | 'factors', member: Member): void
}

function MemberTable({ members, me, onLink, onDo }: MemberTableProps) {
  const mayManage = useMay('admin')
  return (
    <Table
      caption="Members, oldest first"
      columns={['E-mail address', 'Role', 'State', 'Invited', 'Password set']}
      hasActions={mayManage}
    >
      {members.map((member) => (
        <tr key={member.id}>
          <th scope="row">
            <span class="strong wrap">{member.email}</span>
            {member.id === me.id && <span class="muted">you</span>}
          </th>
          <td data-label="Role">{roleTitles[member.role]}</td>
          <td data-label="State">
            <Badge state={member.joinedAt === null && !member.isConnected ? 'invited' : 'joined'} />
            {member.isConnected && <span class="muted">single sign-on</span>}
          </td>
          <td data-label="Invited">
            <Ago at={member.createdAt} />
          </td>
          <td data-label="Password set">
            <Ago at={member.joinedAt} none="not yet" />
          </td>
          {mayManage && (
            <td class="row-actions">
              {member.joinedAt === null && !member.isConnected && (
                <Button
                  kind="quiet"
                  label={`Create a link for ${member.email}`}
                  onClick={() => onLink(member)}
                >
                  Create link
                </Button>
              )}
              <Menu label={`Actions for ${member.email}`} items={actionsFor(member)} />
            </td>
          )}
        </tr>
      ))}
    </Table>
  )

  function actionsFor(member: Member): MenuItem[] {
    const actions: MenuItem[] = [
      { title: 'Change role', icon: 'edit', onChoose: () => onDo('role', member) },
      { title: 'Remove', icon: 'trash', isRisky: true, onChoose: () => onDo('remove', member) },
    ]
    const reset: MenuItem = { title: 'Reset password', icon: 'keys', onChoose: () => onDo('reset', member) }
    const factors: MenuItem = {
      title: 'Remove second factors',
      icon: 'out',
      onChoose: () => onDo('factors', member),
    }
    return member.joinedAt === null && !member.isConnected ? actions : actions.toSpliced(1, 0, reset, factors)
  }
}

interface RoleFieldProps {
  value: Role
  onChange(role: Role): void
  problem?: string | undefined
}

/** The roles to choose from, each with what it may do. */
function RoleField({ value, onChange, problem }: RoleFieldProps) {
  return (
    <fieldset class="scopes" aria-describedby={problem && 'role-problem'}>
      <legend>Role</legend>
      {roles.map((role) => (
        <label key={role} class="scope">
          <input type="radio" name="role" checked={role === value} onChange={() => onChange(role)} />
          <span>
            {roleTitles[role]}
            <small>{roleHints[role]}</small>
          </span>
        </label>
      ))}
      <GroupProblem id="role-problem" problem={problem} />
    </fieldset>
  )
}

function ChangeRole({ member, isMe, onClose }: { member: Member; isMe: boolean; onClose(): void }) {
  const [role, setRole] = useState(member.role)
  const form = useForm('role')
  return (
    <Dialog title={`Change the role of ${member.email}`} onClose={onClose}>
      <form
        noValidate
        onSubmit={form.submit(async () => {
          await change(`/members/${encode(member.id)}/role`, { role })
          onClose()
          showToast(`${member.email} is now ${roleTitles[role]}`)
          await refresh(isMe ? '/session' : '/members')
          if (isMe) await refresh('/members')
        })}
      >
        <RoleField value={role} onChange={setRole} problem={form.fields.role} />
        <p class="note">
          It applies from the next request on, in every browser.
          {isMe && role !== 'admin' && ' Another admin has to give you the role back.'}
        </p>
        <Failure failure={form.failure} />
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={form.isBusy} isDisabled={role === member.role}>
            Change the role
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

function Invite({ onInvited, onClose }: { onInvited(invited: Invitation): void; onClose(): void }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  const form = useForm('email', 'role')
  return (
    <Dialog title="Invite a member" onClose={onClose}>
      <form
        noValidate
        onSubmit={form.submit(async () => onInvited(await change<Invitation>('/members', { email, role })))}
      >
        <Field
          label="E-mail address"
          type="email"
          value={email}
          onInput={setEmail}
          problem={form.fields.email}
          hint="You get a link to share. No e-mail is sent."
          hasFocus
        />
        <RoleField value={role} onChange={setRole} problem={form.fields.role} />
        <Failure failure={form.failure} />
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={form.isBusy}>
            Create the link
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

function ShowLink({ invited, onClose }: { invited: Invitation; onClose(): void }) {
  return (
    <Dialog title={`Link for ${invited.member.email}`} onClose={onClose} isFirm>
      <div class="prose">
        <p>
          Share this link in private. It lets the member set a password, works once and expires on{' '}
          <When at={invited.expiresAt} />. <strong>It is shown only once.</strong>
        </p>
      </div>
      <p class="label">Link</p>
      <CopyField label="Link" text={`${location.origin}/console/join#${invited.token}`} hasFocus />
      <footer class="dialog-foot">
        <Button kind="primary" onClick={onClose}>
          I have copied the link
        </Button>
      </footer>
    </Dialog>
  )
}
