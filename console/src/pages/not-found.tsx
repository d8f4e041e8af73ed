import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'
import { Link } from '../router.tsx'

export function NotFoundPage() {
  return (
    <Page title="No such page">
      <Empty icon="search" title="There is nothing at this address">
        <p>
          It may have been mistyped. <Link to="/console/trackers">Go to the trackers</Link>
        </p>
      </Empty>
    </Page>
  )
}
