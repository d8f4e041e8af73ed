import { useState } from 'preact/hooks'
import { change, encode } from '../api.ts'
import { Button } from '../parts/button.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { tell } from '../parts/toasts.tsx'
import { forget, refresh } from '../resource.ts'
import { navigate } from '../router.tsx'
import { NameDialog } from './name-dialog.tsx'

/** What can be done to a tracker as a whole, once its name is known. */
export function TrackerActions({ id, name }: { id: string; name: string | undefined }) {
  const [doing, setDoing] = useState<'rename' | 'delete' | null>(null)
  const stop = () => setDoing(null)
  const path = `/trackers/${encode(id)}`
  return (
    <>
      <Button icon="edit" isDisabled={name === undefined} onClick={() => setDoing('rename')}>
        Rename
      </Button>
      <Button kind="danger" isDisabled={name === undefined} onClick={() => setDoing('delete')}>
        Delete
      </Button>
      {name !== undefined && doing === 'rename' && (
        <NameDialog
          title="Rename the tracker"
          action="Rename"
          name={name}
          onSave={async (typed) => {
            await change(`${path}/rename`, { name: typed })
            tell(`Renamed to “${typed}”`)
            await refresh('/trackers')
            stop()
          }}
          onClose={stop}
        />
      )}
      {name !== undefined && doing === 'delete' && (
        <Confirm
          title={`Delete “${name}”`}
          action="Delete the tracker"
          kind="danger"
          typing={{ what: 'the tracker’s name', text: name, field: 'name' }}
          onConfirm={async (typed) => {
            await change(`${path}/delete`, { name: typed })
            tell(`Deleted “${name}”`)
            forget(path)
            navigate('/console/trackers', { replace: true })
            await refresh('/trackers')
          }}
          onClose={stop}
        >
          <p>
            This deletes the tracker with all its data subjects, sessions, events and daily totals, and cannot
            be undone. There will be no receipts: if you need proof of erasure, erase the data subjects first.
          </p>
        </Confirm>
      )}
    </>
  )
}
