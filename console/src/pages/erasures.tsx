import type { ComponentChildren } from 'preact'
import { encode } from '../api.ts'
import { GroupRows } from '../components/group-rows.tsx'
import { Page } from '../components/page.tsx'
import { Pager, usePaging } from '../components/pager.tsx'
import { Empty, Loaded } from '../components/states.tsx'
import { Table } from '../components/table.tsx'
import { ActorName } from '../components/values.tsx'
import { Ago, counted, formatNumber } from '../components/when.tsx'
import { certificateAddress } from '../erasure.ts'
import { groupAddress, requestAddress, requestTitle } from '../requests.ts'
import { useResource } from '../resource.ts'
import { Link } from '../router.tsx'
import type {
  ErasureGroup,
  ErasureGroupList,
  ErasureList,
  LedgerErasure,
  NothingHeld,
  TrackerList,
} from '../types.ts'

const pageSize = 25

/** All erasures in the ledger, newest first. */
export function ErasuresPage() {
  const paging = usePaging()
  const parameters = new URLSearchParams({ limit: String(pageSize) })
  if (paging.cursor !== null) parameters.set('cursor', paging.cursor)
  const erasures = useResource<ErasureGroupList>(`/erasures/groups?${parameters}`)
  return (
    <Page
      title="Erasures"
      intro="Every erasure has a ledger entry and a certificate. Neither identifies the data subject."
    >
      <Loaded resource={erasures} lines={10}>
        {({ groups, size, nextCursor }) =>
          size === 0 ? (
            <Empty icon="erasures" title="No erasures yet">
              <p>
                Search for a person and erase their data. Each erasure leaves a certificate here that anyone
                can verify.
              </p>
            </Empty>
          ) : (
            <>
              <ErasureTable groups={groups} size={size} />
              <Pager paging={paging} nextCursor={nextCursor} label="Pages of erasures" />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

/** The request that an erasure was part of, or all requests with its reference. */
function PartOf({
  request: { id, reference },
  isGroup,
}: {
  request: NonNullable<LedgerErasure['request']>
  isGroup: boolean
}) {
  if (isGroup && reference !== null) return <Link to={groupAddress(reference)}>{reference}</Link>
  return <Link to={requestAddress(id)}>{requestTitle({ requestId: id, reference })}</Link>
}

function ErasureTable({ groups, size }: { groups: ErasureGroup[]; size: number }) {
  const trackers = useResource<TrackerList>('/trackers')
  const nameOf = (id: string) => trackers.data?.trackers.find((tracker) => tracker.id === id)?.name ?? id
  return (
    <Table
      caption={`${counted(size, 'ledger entry', 'ledger entries')}, newest first`}
      columns={['Certificate', 'Time', 'Tracker', 'Carried out by']}
      figures={['Sessions', 'Events']}
    >
      {groups.map((group) =>
        group.count > 1 ? (
          <ErasureGroupRows key={group.newest.index} {...{ group, nameOf }} />
        ) : (
          <EntryRow key={group.newest.index} entry={group.newest} nameOf={nameOf} />
        ),
      )}
    </Table>
  )
}

type NameOf = (trackerId: string) => string

interface EntryRowProps {
  entry: LedgerErasure | NothingHeld
  nameOf: NameOf
  isWithin?: boolean
}

function EntryRow({ entry, ...rest }: EntryRowProps) {
  return entry.kind === 'erasure' ? (
    <ErasureRow erasure={entry} {...rest} />
  ) : (
    <NothingHeldRow entry={entry} isWithin={rest.isWithin} />
  )
}

interface ErasureRowProps extends Omit<EntryRowProps, 'entry'> {
  erasure: LedgerErasure
}

function ErasureRow({ erasure, nameOf, isWithin = false }: ErasureRowProps) {
  const { index, trackerId, erasedAt, by, counts, alreadyErased, request } = erasure
  return (
    <tr class={isWithin ? 'leads within' : 'leads'}>
      <th scope="row">
        <CertificateLink index={index} />
        {alreadyErased && <span class="muted">no data was stored</span>}
        {request && !isWithin && <PartOf request={request} isGroup={false} />}
      </th>
      <EntryCells at={erasedAt} tracker={nameOf(trackerId)} by={<CarriedOutBy by={by} />} counts={counts} />
    </tr>
  )
}

/** The service found nothing about a person in any tracker. */
function NothingHeldRow({ entry, isWithin = false }: { entry: NothingHeld; isWithin?: boolean | undefined }) {
  const { index, checkedAt, request } = entry
  return (
    <tr class={isWithin ? 'leads within' : 'leads'}>
      <th scope="row">
        <CertificateLink index={index} />
        <span class="muted">Nothing held</span>
        {request && !isWithin && <PartOf request={request} isGroup={false} />}
      </th>
      <EntryCells at={checkedAt} tracker="all" by="Lethe" counts={{ sessions: 0, events: 0 }} />
    </tr>
  )
}

interface EntryCellsProps {
  at: string
  tracker: string
  by: ComponentChildren
  counts: LedgerErasure['counts']
}

function EntryCells({ at, tracker, by, counts }: EntryCellsProps) {
  return (
    <>
      <td data-label="Time">
        <Ago at={at} />
      </td>
      <td data-label="Tracker">{tracker}</td>
      <td data-label="Carried out by">{by}</td>
      <td class="number" data-label="Sessions">
        {formatNumber(counts.sessions)}
      </td>
      <td class="number" data-label="Events">
        {formatNumber(counts.events)}
      </td>
    </>
  )
}

function CarriedOutBy({ by }: Pick<LedgerErasure, 'by'>) {
  return by ? <ActorName actor={by.actor} /> : <span class="muted">no longer recorded</span>
}

function CertificateLink({ index }: { index: number }) {
  return (
    <Link to={certificateAddress(index)}>
      <span class="strong">No. {index + 1}</span>
    </Link>
  )
}

interface ErasureGroupRowsProps {
  group: ErasureGroup
  nameOf: NameOf
}

/** The erasures of a request, or of requests with one reference. Its link has all of them. */
function ErasureGroupRows({ group, nameOf }: ErasureGroupRowsProps) {
  const { newest, by, count, erased, counts, trackerIds, cursor } = group
  const parameters = new URLSearchParams({ limit: String(Math.min(count, pageSize)) })
  if (cursor !== null) parameters.set('cursor', cursor)
  const nothingHeld = `${counted(count - erased, 'entry', 'entries')} with nothing held`
  const link = newest.request ? (
    <PartOf request={newest.request} isGroup />
  ) : by?.requestId ? (
    <Link to={`/console/activity?request=${encode(by.requestId)}`}>Activity</Link>
  ) : null
  return (
    <GroupRows<ErasureList>
      title={erased > 0 ? `${counted(erased, 'data subject')} erased` : nothingHeld}
      detail={
        <>
          {link}
          {erased > 0 && erased < count && `${link ? ' · ' : ''}${nothingHeld}`}
        </>
      }
      cells={
        <EntryCells
          at={newest.kind === 'erasure' ? newest.erasedAt : newest.checkedAt}
          tracker={trackersInWords(trackerIds, nameOf)}
          by={trackerIds.length > 0 ? <CarriedOutBy by={by} /> : 'Lethe'}
          counts={counts}
        />
      }
      path={`/erasures?${parameters}`}
      columns={6}
    >
      {({ erasures }) => (
        <>
          {erasures.map((erasure) => (
            <EntryRow key={erasure.index} entry={erasure} nameOf={nameOf} isWithin />
          ))}
          {count > erasures.length && (
            <tr class="within">
              <td colSpan={6} class="muted">
                and {formatNumber(count - erasures.length)} more
              </td>
            </tr>
          )}
        </>
      )}
    </GroupRows>
  )
}

function trackersInWords(ids: readonly string[], nameOf: NameOf): string {
  if (ids.length === 0) return 'all'
  return ids.length > 2 ? `${ids.length} trackers` : ids.map(nameOf).join(', ')
}
