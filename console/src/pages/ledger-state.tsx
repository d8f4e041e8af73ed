import { useEffect, useState } from 'preact/hooks'
import { change } from '../api.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { Awaited } from '../parts/states.tsx'
import { tellFailure } from '../parts/toasts.tsx'
import { counted, When } from '../parts/when.tsx'
import { useResource } from '../resource.ts'
import { Link } from '../router.tsx'
import type { Ledger, LedgerVerification } from '../types.ts'
import { type HeadVerdict, headIsSigned, verifyHead } from '../verify.ts'

/** How the ledger of erasures stands: what it holds, and whether its head is signed, by this browser's own reckoning. */
export function LedgerState() {
  const ledger = useResource<Ledger>('/ledger')
  const [verdict, setVerdict] = useState<HeadVerdict | null>(null)
  const [computed, setComputed] = useState<LedgerVerification | null>(null)
  const [isBusy, setBusy] = useState(false)
  const { data } = ledger
  useEffect(() => {
    if (data) void verifyHead(data).then(setVerdict)
  }, [data?.checkpoint])
  function compute(): void {
    setBusy(true)
    change<LedgerVerification>('/ledger/verify')
      .then(setComputed, tellFailure)
      .finally(() => setBusy(false))
  }
  return (
    <section class="card ledger-state" aria-labelledby="ledger">
      <header>
        <h2 id="ledger">Erasure ledger</h2>
        <Link to="/console/erasures" class="go">
          Erasures <Icon name="next" />
        </Link>
      </header>
      <dl class="facts">
        <div>
          <dt>Size</dt>
          <dd>{data ? counted(data.size, 'erasure') : '…'}</dd>
        </div>
        <div>
          <dt>Last erasure</dt>
          <dd>{data ? <When at={data.lastErasedAt} /> : '…'}</dd>
        </div>
        <div>
          <dt>Root hash</dt>
          <dd>
            <code class="small">{data?.rootHash ?? <Awaited like={'x'.repeat(44)} />}</code>
          </dd>
        </div>
        <div>
          <dt>Signature</dt>
          <dd>{verdict?.words ?? <Awaited like={headIsSigned} />}</dd>
        </div>
      </dl>
      <footer>
        <Button isBusy={isBusy} onClick={compute}>
          Recompute
        </Button>
        <span role="status" class="muted">
          {computed &&
            (computed.problem ??
              `Recomputed from ${counted(computed.size, 'entry', 'entries')}: the root hash ${
                computed.rootHash === data?.rootHash ? 'matches' : 'has changed since this page was loaded'
              }.`)}
        </span>
      </footer>
    </section>
  )
}
