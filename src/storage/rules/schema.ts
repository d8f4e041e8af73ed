import type { TransferTable } from '../../domain/store.ts'
import { programFolder } from '../../runtime/program-files.ts'

type Columns = Record<string, TransferTable['columns'][number]['kind']>

function table(name: string, key: Columns, others: Columns): TransferTable {
  const columns = Object.entries({ ...key, ...others }).map(([name, kind]) => ({ name, kind }))
  return { name, columns, keyLength: Object.keys(key).length }
}

const text = 'text'
const integer = 'integer'
const key = 'key'

/**
 * Every table of a store, referenced tables first: its name, its key columns and its other columns. A test
 * fails for a table or column missing here. Only the progress of sweeps and scrubs is not copied between
 * stores.
 */
export const transferTables: readonly TransferTable[] = [
  table('organisations', { id: text }, { name: text, plan: text, created_at: integer, deleted_at: integer }),
  table(
    'organisation_profiles',
    { organisation_id: text },
    { display_name: text, contact: text, language: text },
  ),
  table(
    'organisation_logos',
    { organisation_id: text },
    { type: text, width: integer, height: integer, digest: text, image: text },
  ),
  table(
    'reply_texts',
    { organisation_id: text, name: text, language: text },
    { body: text, changed_at: integer },
  ),
  table(
    'trackers',
    { id: text },
    { organisation_id: text, name: text, created_at: integer, deleted_at: integer },
  ),
  table(
    'api_keys',
    { id: text },
    {
      organisation_id: text,
      name: text,
      scopes: text,
      hash: text,
      last_four: text,
      created_at: integer,
      rotated_at: integer,
      expires_at: integer,
      revoked_at: integer,
      last_used_at: integer,
    },
  ),
  table(
    'variable_versions',
    { tracker_id: text, version: integer },
    {
      document: text,
      digest: text,
      changed_at: integer,
      actor_kind: text,
      actor_id: text,
      actor_name: text,
      added: integer,
      changed: integer,
      removed: integer,
    },
  ),
  table(
    'variable_tokens',
    { id: text },
    {
      tracker_id: text,
      name: text,
      hash: text,
      last_four: text,
      created_at: integer,
      rotated_at: integer,
      revoked_at: integer,
      last_used_at: integer,
    },
  ),
  table('key_days', { key_id: text, day: integer }, { requests: integer, refusals: integer }),
  table(
    'subjects',
    { tracker_id: text, subject_id: text },
    {
      subject_key: key,
      first_seen_at: integer,
      last_seen_at: integer,
      oldest_at: integer,
      session_count: integer,
      event_count: integer,
      interleaved: integer,
      longest_session_ms: integer,
    },
  ),
  table(
    'sessions',
    { subject_key: key, session_id: text },
    {
      started_at: integer,
      ended_at: integer,
      event_count: integer,
      attributes: text,
      attributes_at: integer,
    },
  ),
  table(
    'events',
    { subject_key: key, occurred_at: integer, event_id: text },
    { session_id: text, name: text, properties: text, interleaved: integer },
  ),
  table(
    'identifiers',
    { subject_key: key, lookup_key: key },
    { tracker_id: text, subject_id: text, name: text, value: text, brought_at: integer },
  ),
  table('identifier_names', { organisation_id: text, name: text }, {}),
  table('daily_events', { tracker_id: text, day: integer, name: text }, { count: integer }),
  table('daily_sessions', { tracker_id: text, day: integer }, { count: integer }),
  table(
    'members',
    { id: text },
    {
      organisation_id: text,
      email: text,
      created_at: integer,
      password_hash: text,
      password_set_at: integer,
      invitation_hash: text,
      invitation_expires_at: integer,
      role: text,
      language: text,
      totp_secret: text,
      totp_set_at: integer,
      totp_step: integer,
      oidc_issuer: text,
      oidc_subject: text,
    },
  ),
  table(
    'sign_ins',
    { token_hash: text },
    {
      member_id: text,
      started_at: integer,
      last_seen_at: integer,
      id: text,
      method: text,
      verified_at: integer,
      device: text,
      address: text,
    },
  ),
  table(
    'passkeys',
    { id: text },
    {
      member_id: text,
      name: text,
      public_key: text,
      sign_count: integer,
      transports: text,
      device_type: text,
      backed_up: integer,
      created_at: integer,
      last_used_at: integer,
    },
  ),
  table('recovery_codes', { member_id: text, hash: text }, {}),
  table(
    'sign_in_challenges',
    { token_hash: text },
    { kind: text, member_id: text, data: text, created_at: integer, expires_at: integer },
  ),
  table('approval_rules', { organisation_id: text }, { above: integer }),
  table(
    'sign_in_rules',
    { organisation_id: text },
    { second_factor: text, password_allowed: integer, domains: text, domain_role: text },
  ),
  table(
    'activity',
    { organisation_id: text, at: integer, id: text },
    {
      kind: text,
      actor_kind: text,
      actor_id: text,
      actor_name: text,
      target: text,
      request_id: text,
      sessions: integer,
      events: integer,
      ledger_index: integer,
    },
  ),
  table(
    'privacy_requests',
    { organisation_id: text, id: text },
    {
      kind: text,
      state: text,
      reference: text,
      received_at: integer,
      due_at: integer,
      extended_at: integer,
      extension_reason: text,
      closed_at: integer,
      rejection_reason: text,
      person: text,
      names_identifiers: integer,
      content_digest: text,
      created_at: integer,
      creator_kind: text,
      creator_id: text,
      creator_name: text,
      actor_kind: text,
      actor_id: text,
      actor_name: text,
      request_id: text,
      found_subjects: integer,
      found_sessions: integer,
      found_events: integer,
      erased_subjects: integer,
      erased_sessions: integer,
      erased_events: integer,
      searches: integer,
      held_identifiers: text,
      searched_at: integer,
      left_subjects: integer,
      resumes_at: integer,
      holder: text,
      runs_at: integer,
      assignee_id: text,
      list_line: integer,
      shares_reference: integer,
      approval_asked_at: integer,
      approval_asker_id: text,
      approval_asker_name: text,
    },
  ),
  table(
    'privacy_request_items',
    { organisation_id: text, request_id: text, place: integer },
    {
      outcome: text,
      tracker_id: text,
      subject_id: text,
      held: integer,
      identifier: text,
      sessions: integer,
      events: integer,
      ledger_index: integer,
      sealed_nonce: text,
    },
  ),
  table(
    'privacy_request_people',
    { organisation_id: text, digest: key, received_at: integer, request_id: text },
    {},
  ),
  table(
    'privacy_request_notes',
    { organisation_id: text, request_id: text, id: text },
    { at: integer, actor_kind: text, actor_id: text, actor_name: text, body: text },
  ),
  table(
    'privacy_request_exclusions',
    { organisation_id: text, request_id: text, digest: key },
    {
      tracker_id: text,
      reason: text,
      at: integer,
      actor_kind: text,
      actor_id: text,
      actor_name: text,
    },
  ),
  table('secrets', { fingerprint: text }, { first_used_at: integer }),
  table(
    'tombstones',
    { tracker_id: text, digest: key, organisation_id: text, ledger_index: integer },
    { erased_at: integer, refused_until: integer },
  ),
  table(
    'ledger_entries',
    { organisation_id: text, ledger_index: integer },
    { record: text, edge: text, head_mac: text },
  ),
  table('refused_lines', { reason: text }, { lines: integer }),
  table(
    'retention_windows',
    { organisation_id: text, kind: text },
    { days: integer, shorter_days: integer, shorter_since: integer },
  ),
]

/** The columns of a table, and of its key, as SQL lists. */
export function columnLists({ columns, keyLength }: TransferTable): { all: string; key: string } {
  const names = columns.map(({ name }) => name)
  return { all: names.join(', '), key: names.slice(0, keyLength).join(', ') }
}

const stepsOf = new Map<string, readonly string[]>()

/** All migrations in a folder, in order; the first has number 1. Read once. */
export function migrationSteps(path: string): readonly string[] {
  const steps = stepsOf.get(path) ?? readSteps(path)
  stepsOf.set(path, steps)
  return steps
}

function readSteps(path: string): string[] {
  const folder = programFolder(path)
  return folder
    .names()
    .filter((name) => name.endsWith('.sql'))
    .map((name) => folder.read(name).toString())
}
