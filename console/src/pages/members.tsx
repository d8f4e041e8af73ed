import { useState } from 'preact/hooks'
import { change, encode } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Confirm, Dialog } from '../components/dialog.tsx'
import { CopyField, Failure, Field } from '../components/field.tsx'
import { Page } from '../components/page.tsx'
import { Loaded } from '../components/states.tsx'
import { showFailure, showToast } from '../components/toasts.tsx'
import { Badge } from '../components/values.tsx'
import { Ago, When } from '../components/when.tsx'
import { useForm } from '../form.ts'
import { refresh, useResource } from '../resource.ts'
import { flagParam, useSearchParams } from '../search-params.ts'
import { completeSignOut, useSession } from '../session.tsx'
import type { Invitation, Member, MemberList } from '../types.ts'

export function MembersPage() {
  const { member: me } = useSession()
  const members = useResource<MemberList>('/members')
  const [{ create: isInviting }, setParams] = useSearchParams({ create: flagParam })
  const setInviting = (create: boolean) => setParams({ create })
  const [invited, setInvited] = useState<Invitation | null>(null)
  const [removing, setRemoving] = useState<Member | null>(null)
  async function remove({ id, email }: Member): Promise<void> {
    await change(`/members/${encode(id)}`, {}, 'DELETE')
    setRemoving(null)
    showToast(`Removed ${email}`)
    if (id === me.id) completeSignOut()
    else void refresh('/members')
  }
  /** Creates a new link for a member who has not joined; the previous one becomes invalid. */
  function makeLink({ email }: Member): void {
    change<Invitation>('/members', { email }).then(setInvited).catch(showFailure)
  }
  return (
    <Page
      title="Members"
      intro="People who can sign in to this console. All members have the same permissions."
      actions={
        <Button kind="primary" icon="plus" onClick={() => setInviting(true)}>
          Invite a member
        </Button>
      }
    >
      <Loaded resource={members}>
        {({ members }) => <MemberTable {...{ members, me }} onLink={makeLink} onRemove={setRemoving} />}
      </Loaded>
      {isInviting && (
        <Invite
          onInvited={(invited) => {
            void refresh('/members')
            setInviting(false)
            setInvited(invited)
          }}
          onClose={() => setInviting(false)}
        />
      )}
      {invited && <ShowLink invited={invited} onClose={() => setInvited(null)} />}
      {removing && (
        <Confirm
          title={`Remove ${removing.email}`}
          action="Remove the member"
          kind="danger"
          onConfirm={() => remove(removing)}
          onClose={() => setRemoving(null)}
        >
          <p>
            {removing.id === me.id ? 'You' : 'They'} will be signed out immediately and cannot sign in again
            without a new invitation. API keys keep working, and the activity log is kept.
          </p>
        </Confirm>
      )}
    </Page>
  )
}

function MemberTable({
  members,
  me,
  onLink,
  onRemove,
}: {
  members: Member[]
  me: Member
  onLink(member: Member): void
  onRemove(member: Member): void
}) {
  return (
    <div class="table-frame">
      <table class="table">
        <caption class="visually-hidden">Members, oldest first</caption>
        <thead>
          <tr>
            <th scope="col">E-mail address</th>
            <th scope="col">State</th>
            <th scope="col">Invited</th>
            <th scope="col">Password set</th>
            <th scope="col">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {members.map((member) => (
            <tr key={member.id}>
              <th scope="row">
                <span class="strong wrap">{member.email}</span>
                {member.id === me.id && <span class="muted">you</span>}
              </th>
              <td data-label="State">
                <Badge state={member.joinedAt === null ? 'invited' : 'joined'} />
              </td>
              <td data-label="Invited">
                <Ago at={member.createdAt} />
              </td>
              <td data-label="Password set">
                <Ago at={member.joinedAt} none="not yet" />
              </td>
              <td class="row-actions">
                {member.joinedAt === null && (
                  <Button
                    kind="quiet"
                    label={`Create a link for ${member.email}`}
                    onClick={() => onLink(member)}
                  >
                    Create link
                  </Button>
                )}
                <Button kind="quiet risky" label={`Remove ${member.email}`} onClick={() => onRemove(member)}>
                  Remove
                </Button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Invite({ onInvited, onClose }: { onInvited(invited: Invitation): void; onClose(): void }) {
  const [email, setEmail] = useState('')
  const form = useForm()
  return (
    <Dialog title="Invite a member" onClose={onClose}>
      <form
        noValidate
        onSubmit={form.submit(async () => onInvited(await change<Invitation>('/members', { email })))}
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
