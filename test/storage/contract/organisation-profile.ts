import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Logo, newProfile, type ProfileDetails } from '../../../src/domain/organisation-profile.ts'
import type { ReplyText } from '../../../src/domain/reply-text.ts'
import { deleteOrganisation } from './deletion.ts'
import type { Fixture } from './fixture.ts'
import { kindsOf, memberNote } from './member.ts'

const details: ProfileDetails = { displayName: `L'été 🦦 "AG"`, contact: 'a\nb\tc', language: 'de' }
const facts = { type: 'image/png', width: 20, height: 10, digest: 'd1' } as const
const logo: Logo = { ...facts, image: 'AAAA'.repeat(22_000) }
const none = { ...newProfile, logo: null }

export function organisationProfileContract(fixture: Fixture): void {
  const profileNote = (organisationId: string) =>
    memberNote(fixture, organisationId, 'organisation.profile-changed')
  const save = (organisationId: string, saved: ProfileDetails) =>
    fixture.store.organisationProfiles.save(organisationId, saved, profileNote(organisationId))
  const saveLogo = (organisationId: string, saved: Logo | null) =>
    fixture.store.organisationProfiles.saveLogo(organisationId, saved, profileNote(organisationId))
  const find = (organisationId: string) => fixture.store.organisationProfiles.find(organisationId)

  describe('the profile of an organisation', () => {
    it('is empty at first, and for an unknown organisation', async () => {
      const id = await fixture.createOrganisation()
      for (const each of [id, 'nobody']) {
        assert.deepEqual(await find(each), none)
        assert.equal(await fixture.store.organisationProfiles.findLogo(each), null)
      }
    })

    it('is found as it was last saved, only in its organisation, with a note each time', async () => {
      const [id, other] = [await fixture.createOrganisation(), await fixture.createOrganisation()]
      assert.equal(await save(id, details), true)
      assert.deepEqual(await find(id), { ...details, logo: null })
      assert.equal(await save(id, newProfile), true)
      assert.deepEqual(await find(id), none)
      assert.deepEqual(await find(other), none)
      assert.deepEqual(await kindsOf(fixture, id), Array(2).fill('organisation.profile-changed'))
    })

    it('has a separate logo, which can be replaced and removed', async () => {
      const [id, other] = [await fixture.createOrganisation(), await fixture.createOrganisation()]
      assert.equal(await saveLogo(id, { ...logo, digest: 'd0', type: 'image/svg+xml' }), true)
      assert.equal(await saveLogo(id, logo), true)
      assert.deepEqual(await find(id), { ...newProfile, logo: facts })
      assert.deepEqual(await fixture.store.organisationProfiles.findLogo(id), logo)
      assert.equal(await fixture.store.organisationProfiles.findLogo(other), null)
      await save(id, details)
      assert.deepEqual(await find(id), { ...details, logo: facts })
      assert.equal(await saveLogo(id, null), true)
      assert.deepEqual(await find(id), { ...details, logo: null })
      assert.equal((await kindsOf(fixture, id)).length, 4)
    })

    it('is removed with the organisation, and is not saved for an unknown one', async () => {
      const id = await fixture.createOrganisation()
      await save(id, details)
      await saveLogo(id, logo)
      await deleteOrganisation(fixture, id)
      assert.deepEqual(await find(id), none)
      for (const each of [id, 'nobody'])
        assert.deepEqual([await save(each, details), await saveLogo(each, logo)], [false, false])
      assert.deepEqual(await find(id), none)
    })
  })

  describe('the reply texts of an organisation', () => {
    const text: ReplyText = { name: 'access.received', language: 'en', text: `"é" 🦦\n{dueAt}`, changedAt: 5 }
    const list = async (id: string) =>
      (await fixture.store.replyTexts.list(id)).toSorted((a, b) => (a.language < b.language ? -1 : 1))
    const saveText = (id: string, saved: ReplyText) =>
      fixture.store.replyTexts.save(id, saved, memberNote(fixture, id, 'reply-text.changed'))
    const restore = (id: string, { name, language }: ReplyText = text) =>
      fixture.store.replyTexts.restore(id, name, language, memberNote(fixture, id, 'reply-text.restored'))

    it('are those that it has customised, each in its language', async () => {
      const [id, other] = [await fixture.createOrganisation(), await fixture.createOrganisation()]
      assert.deepEqual(await list(id), [])
      const german: ReplyText = { ...text, language: 'de', text: 'Guten Tag' }
      for (const each of [text, german, { ...text, text: 'Hello', changedAt: 6 }])
        assert.equal(await saveText(id, each), true)
      assert.deepEqual(await list(id), [german, { ...text, text: 'Hello', changedAt: 6 }])
      assert.deepEqual(await list(other), [])
      assert.deepEqual(await kindsOf(fixture, id), Array(3).fill('reply-text.changed'))
    })

    it('are the defaults again once they are restored, with one note', async () => {
      const [id, other] = [await fixture.createOrganisation(), await fixture.createOrganisation()]
      for (const each of [id, other]) await saveText(each, text)
      assert.deepEqual([await restore(id), await restore(id), await restore('nobody')], [true, false, false])
      assert.deepEqual(await list(id), [])
      assert.deepEqual(await list(other), [text])
      assert.deepEqual(await kindsOf(fixture, id), ['reply-text.changed', 'reply-text.restored'])
    })

    it('are removed with the organisation, and are not saved for an unknown one', async () => {
      const id = await fixture.createOrganisation()
      await saveText(id, text)
      await deleteOrganisation(fixture, id)
      assert.deepEqual(await list(id), [])
      assert.deepEqual([await saveText(id, text), await saveText('nobody', text)], [false, false])
      assert.deepEqual(await list(id), [])
    })
  })
}
