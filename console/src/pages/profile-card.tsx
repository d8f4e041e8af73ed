import { useState } from 'preact/hooks'
import { ApiError, change } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Choice, Failure, Field, Note } from '../components/field.tsx'
import { Icon } from '../components/icon.tsx'
import { TextArea } from '../components/text-area.tsx'
import { showToast } from '../components/toasts.tsx'
import { useForm } from '../form.ts'
import { languages } from '../replies.ts'
import { refresh, unexpected } from '../resource.ts'
import { Link } from '../router.tsx'
import { useMay } from '../session.tsx'
import type { OrganisationProfile, SavedLogo } from '../types.ts'

export const profilePath = '/organisation/profile'
const logoPath = '/organisation/logo'

/** How the organisation appears on documents and replies. */
export function ProfileCard({ profile }: { profile: OrganisationProfile }) {
  const mayEdit = useMay('admin')
  return (
    <section class="card" aria-labelledby="profile">
      <header>
        <h2 id="profile">Documents and replies</h2>
      </header>
      <p>
        Certificates, exports and replies show this name, contact and logo to the people who send you
        requests.
      </p>
      {mayEdit ? (
        <Profile saved={profile} />
      ) : (
        <Letterhead {...profile} displayName={profile.displayName ?? profile.organisation} />
      )}
      <footer>
        <Link to="/console/settings/replies" class="go">
          {mayEdit ? 'Edit reply texts' : 'Reply texts'} <Icon name="next" />
        </Link>
      </footer>
    </section>
  )
}

function Profile({ saved }: { saved: OrganisationProfile }) {
  const [displayName, setDisplayName] = useState(saved.displayName ?? '')
  const [contact, setContact] = useState(saved.contact ?? '')
  const [language, setLanguage] = useState(saved.language)
  const form = useForm('displayName', 'contact')
  const save = async () => {
    const now = await change<OrganisationProfile>(profilePath, { displayName, contact, language })
    setDisplayName(now.displayName ?? '')
    setContact(now.contact ?? '')
    showToast('Profile saved')
    await refresh(profilePath)
  }
  return (
    <div class="profile">
      <form noValidate onSubmit={form.submit(save)}>
        <Field
          label="Display name"
          value={displayName}
          onInput={setDisplayName}
          problem={form.fields.displayName}
          hint={`Leave it empty to use “${saved.organisation}”.`}
          isRequired={false}
        />
        <TextArea
          label="Contact"
          value={contact}
          rows={4}
          onInput={setContact}
          problem={form.fields.contact}
          hint="Whom people can ask: an e-mail address, a postal address or a web page, in up to 8 lines."
        />
        <Choice
          label="Language"
          value={language}
          choices={languages}
          onChange={(each) => setLanguage(each)}
        />
        <Failure failure={form.failure} />
        <Button type="submit" kind="primary" isBusy={form.isBusy}>
          Save profile
        </Button>
      </form>
      <div>
        <LogoField logo={saved.logo} />
        <Letterhead
          logo={saved.logo}
          displayName={displayName.trim() || saved.organisation}
          contact={contact.trim() === '' ? null : contact}
        />
      </div>
    </div>
  )
}

/** How documents begin. */
function Letterhead({
  logo,
  displayName,
  contact,
}: Pick<OrganisationProfile, 'logo' | 'displayName' | 'contact'>) {
  return (
    <figure class="letterhead" aria-label="Preview">
      <OrganisationLogo logo={logo} />
      <figcaption>
        <strong>{displayName}</strong>
        {contact && <p>{contact}</p>}
      </figcaption>
    </figure>
  )
}

/** The logo as a picture; nothing if there is none. */
export function OrganisationLogo({ logo }: Pick<OrganisationProfile, 'logo'>) {
  if (!logo) return null
  const { digest, width, height } = logo
  const address = `/console/api${logoPath}?digest=${digest}`
  return <img src={address} width={width} height={height} alt="Logo" />
}

const maxLogoBytes = 64 * 1024

/** A file is stored as soon as it is chosen, because only the service can make it safe to show. */
function LogoField({ logo }: Pick<OrganisationProfile, 'logo'>) {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | undefined>()
  const [removed, setRemoved] = useState<readonly string[]>([])
  async function run(work: () => Promise<string>): Promise<void> {
    setBusy(true)
    setProblem(undefined)
    setRemoved([])
    try {
      const done = await work()
      await refresh(profilePath)
      showToast(done)
    } catch (error) {
      const { fields, message } = error instanceof ApiError ? error : unexpected(error)
      setProblem(fields.logo ?? fields.file ?? message)
    }
    setBusy(false)
  }
  async function upload(file: File): Promise<string> {
    if (file.size === 0) throw new ApiError(422, '', 'The file is empty', null)
    if (file.size > maxLogoBytes) throw new ApiError(422, '', 'The file is larger than 64 KiB', null)
    const saved = await change<SavedLogo>(logoPath, { file: await readBase64(file) })
    setRemoved(saved.removed)
    return 'Logo saved'
  }
  async function remove(): Promise<string> {
    await change(logoPath, {}, 'DELETE')
    return 'Logo removed'
  }
  return (
    <div class="field">
      <span class="label">Logo</span>
      <div class="editor-actions">
        <label class="button plain file" aria-busy={isBusy}>
          <input
            type="file"
            class="visually-hidden"
            accept=".svg,.png,image/svg+xml,image/png"
            aria-describedby="logo-note"
            onChange={({ currentTarget }) => {
              const [file] = currentTarget.files ?? []
              if (file) void run(() => upload(file))
              // The same file can be chosen again.
              currentTarget.value = ''
            }}
          />
          <span>{logo ? 'Replace the logo' : 'Choose a logo'}</span>
        </label>
        {logo && <Button onClick={() => void run(remove)}>Remove the logo</Button>}
      </div>
      <div role="status">
        <Note
          id="logo-note"
          problem={problem}
          hint={
            removed.length > 0
              ? `Removed from the file: ${removed.join(', ')}. Check the preview.`
              : 'SVG or PNG, at most 64 KiB. Everything but the drawing is removed from the file.'
          }
        />
      </div>
    </div>
  )
}

function readBase64(file: File): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const reader = new FileReader()
  reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
  reader.onerror = () => reject(reader.error)
  reader.readAsDataURL(file)
  return promise
}
