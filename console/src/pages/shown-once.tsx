import { Button } from '../parts/button.tsx'
import { Copy } from '../parts/copy.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { useResource } from '../resource.ts'
import type { IssuedKey, TrackerList } from '../types.ts'

/** A key's string, this once: it lives in this dialog and goes with it. */
export function ShownOnce({ issued, verb, onClose }: { issued: IssuedKey; verb: string; onClose(): void }) {
  const trackers = useResource<TrackerList>('/trackers')
  const { key, keyString } = issued
  const trackerId = trackers.data?.trackers[0]?.id ?? 'TRACKER'
  const subjects = `${location.origin}/v1/analytics/trackers/${encodeURIComponent(trackerId)}/subjects`
  return (
    <Dialog title={`Key “${key.name}” ${verb}`} onClose={onClose} isFirm>
      <div class="prose">
        <p>
          Copy the key now and store it with your other secrets. <strong>It is shown only once</strong> and
          cannot be retrieved later.
        </p>
      </div>
      <p class="label">Key</p>
      <Copy label="Key" text={keyString} hasFocus />
      <p class="label">Try it</p>
      <Copy label="Command" text={`curl -H 'Authorization: Bearer ${keyString}' '${subjects}?limit=3'`} />
      <footer class="dialog-foot">
        <Button kind="primary" onClick={onClose}>
          I have stored the key
        </Button>
      </footer>
    </Dialog>
  )
}
