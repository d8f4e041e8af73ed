import type { ActivityNote } from '../../domain/activity.ts'
import type { Language } from '../../domain/language.ts'
import { type ReplyName, type ReplyText, type ReplyTextStore, replyNames } from '../../domain/reply-text.ts'
import { insertActivity } from './activity.ts'
import type { Engine, Run } from './engine.ts'
import { lockOrganisation } from './locks.ts'
import { toLanguage } from './organisation-profile.ts'
import { integer, known, type Row, text } from './row.ts'
import { statement } from './statement.ts'

const list = statement(
  'SELECT name, language, body, changed_at FROM reply_texts WHERE organisation_id = :organisationId',
)
const save = statement(
  `INSERT INTO reply_texts (organisation_id, name, language, body, changed_at)
   VALUES (:organisationId, :name, :language, :text, :changedAt)
   ON CONFLICT (organisation_id, name, language) DO UPDATE SET body = excluded.body,
     changed_at = excluded.changed_at`,
)
const remove = statement(
  `DELETE FROM reply_texts WHERE organisation_id = :organisationId AND name = :name
   AND language = :language`,
)

export const replyTextTransactions = {
  async saveReplyText(
    run: Run,
    organisationId: string,
    replyText: ReplyText,
    note: ActivityNote,
  ): Promise<boolean> {
    if (!(await lockOrganisation(run, organisationId))) return false
    run(save, { ...replyText, organisationId })
    insertActivity(run, note)
    return true
  },
  async restoreReplyText(
    run: Run,
    organisationId: string,
    name: ReplyName,
    language: Language,
    note: ActivityNote,
  ): Promise<boolean> {
    if (!(await lockOrganisation(run, organisationId))) return false
    if ((await run(remove, { organisationId, name, language })).count === 0) return false
    insertActivity(run, note)
    return true
  },
}

export function replyTextStore(engine: Engine<typeof replyTextTransactions>): ReplyTextStore {
  return {
    list: async (organisationId) => (await engine.read(list, { organisationId })).map(toReplyText),
    save: (organisationId, text, note) => engine.transact('saveReplyText', organisationId, text, note),
    restore: (organisationId, name, language, note) =>
      engine.transact('restoreReplyText', organisationId, name, language, note),
  }
}

function toReplyText(row: Row): ReplyText {
  return {
    name: known(replyNames, row.name, 'a reply text'),
    language: toLanguage(row),
    text: text(row, 'body'),
    changedAt: integer(row, 'changed_at'),
  }
}
