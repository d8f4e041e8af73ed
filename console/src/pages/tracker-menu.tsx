import { useState } from 'preact/hooks'
import { change, encode } from '../api.ts'
import { Confirm, NameDialog } from '../components/dialog.tsx'
import { Menu } from '../components/menu.tsx'
import { showToast } from '../components/toasts.tsx'
import { forget, refresh } from '../resource.ts'
import { navigate } from '../router.tsx'
import { useMay } from '../session.tsx'

/** Renames or deletes a tracker, for admins. */
export function TrackerMenu({ id, name }: { id: string; name: string }) {
  const [doing, setDoing] = useState<'rename' | 'delete' | null>(null)
  const stop = () => setDoing(null)
  const path = `/trackers/${encode(id)}`
  if (!useMay('admin')) return null
  return (
    <>
      <Menu
        label={`Actions for ${name}`}
        items={[
          { title: 'Rename', icon: 'edit', onChoose: () => setDoing('rename') },
          { title: 'Delete', icon: 'trash', isRisky: true, onChoose: () => setDoing('delete') },
        ]}
      />
      {doing === 'rename' && (
        <NameDialog
          title="Rename the tracker"
          action="Rename"
          name={name}
          onSave={async (typed) => {
            await change(`${path}/rename`, { name: typed })
            showToast(`Renamed to “${typed}”`)
            await refresh('/trackers')
            stop()
          }}
          onClose={stop}
        />
      )}
      {doing === 'delete' && (
        <Confirm
          title={`Delete “${name}”`}
          action="Delete the tracker"
          kind="danger"
          typing={{ what: 'the tracker’s name', text: name, field: 'name' }}
          onConfirm={async (typed) => {
            await change(`${path}/delete`, { name: typed })
            showToast(`Deleted “${name}”`)
            // The list that was fetched before still contains it.
            forget('/trackers')
            navigate('/console/trackers', { replace: true })
          }}
          onClose={stop}
        >
          <p>
            This deletes the tracker with all its data subjects, sessions, events, daily totals, variables and
            variable tokens, and cannot be undone. There will be no receipts: if you need proof of erasure,
            erase the data subjects first.
          </p>
        </Confirm>
      )}
    </>
  )
}
