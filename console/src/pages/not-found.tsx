import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'
import { Link } from '../router.tsx'

export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <Empty icon="search" title="There is no page at this address">
        <p>
          Check the address, or <Link to="/console/trackers">go to Trackers</Link>.
        </p>
      </Empty>
    </Page>
  )
}
