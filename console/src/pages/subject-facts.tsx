import { dayMs } from '../components/days.ts'
import { Id } from '../components/values.tsx'
import { Ago, formatNumber, When } from '../components/when.tsx'
import type { ConsoleSubject } from '../types.ts'

interface SubjectFactsProps {
  subject: ConsoleSubject
  retentionDays: number
  trackerName: string
}

/** The counts, identifiers, attributes and retention of a data subject. */
export function SubjectFacts({ subject, retentionDays, trackerName }: SubjectFactsProps) {
  const { counts, firstSeenAt, lastSeenAt, identifiers, attributes } = subject
  return (
    <aside class="facts-card" aria-label="Details">
      <dl class="figures">
        <div>
          <dt>Sessions</dt>
          <dd class="figure">{formatNumber(counts.sessions)}</dd>
        </div>
        <div>
          <dt>Events</dt>
          <dd class="figure">{formatNumber(counts.events)}</dd>
        </div>
      </dl>
      <section aria-labelledby="who">
        <h2 id="who">Identifiers</h2>
        {identifiers.length === 0 ? (
          <p class="muted">None besides the ID.</p>
        ) : (
          <ul class="identifiers">
            {identifiers.map(({ name, value }) => (
              <li key={`${name} ${value}`}>
                <span class="muted">{name}</span> <Id text={value} />
              </li>
            ))}
          </ul>
        )}
      </section>
      <section aria-labelledby="attributes">
        <h2 id="attributes">Attributes of the newest session</h2>
        <Attributes of={attributes} none="None." />
      </section>
      <section aria-labelledby="kept">
        <h2 id="kept">Retention</h2>
        <dl class="facts">
          <div>
            <dt>Tracker</dt>
            <dd>{trackerName}</dd>
          </div>
          <div>
            <dt>First seen</dt>
            <dd>
              <When at={firstSeenAt} />
            </dd>
          </div>
          <div>
            <dt>Last seen</dt>
            <dd>
              <Ago at={lastSeenAt} />
            </dd>
          </div>
          <div>
            <dt>Oldest data expires</dt>
            <dd>
              <When at={later(firstSeenAt, retentionDays)} as="day" />
            </dd>
          </div>
          <div>
            <dt>All data expires (without new activity)</dt>
            <dd>
              <When at={later(lastSeenAt, retentionDays)} as="day" />
            </dd>
          </div>
        </dl>
        <p class="note">Data older than {formatNumber(retentionDays)} days is deleted automatically.</p>
      </section>
    </aside>
  )
}

function later(at: string, days: number): string {
  return new Date(Date.parse(at) + days * dayMs).toISOString()
}

/** Attributes by name. */
export function Attributes({ of, none }: { of: Record<string, unknown>; none: string }) {
  const facts = Object.entries(of)
  if (facts.length === 0) return <p class="muted">{none}</p>
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>
            <Id text={name} />
          </dt>
          <dd>
            <Id text={typeof value === 'string' ? value : JSON.stringify(value)} />
          </dd>
        </div>
      ))}
    </dl>
  )
}
