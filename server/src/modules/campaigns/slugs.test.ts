/** The slug of a campaign names it in requests, in staging and in production alike (D-CAMP-7). */
import { expect, test } from 'vitest'
import { CAMPAIGNS, pathOf, subscriptionTo } from '../../../test/blasts.ts'
import { world } from '../../../test/world.ts'

test('a slug is made from the name, is unique in its project, and stays when the name changes', async () => {
  await using w = await world()
  const subscription_id = await subscriptionTo(w)
  const make = async (more: object, key = w.keys.secret, of = subscription_id) =>
    (await w.post(CAMPAIGNS, { type: 'trigger', name: 'Password  Réset!', subscription_id: of, ...more }, { key })).body
  const slugs = [await make({}), await make({}), await make({ slug: 'own' }), await make({})].map(({ slug }) => slug)
  expect(slugs).toEqual(['password-reset', 'password-reset-2', 'own', 'password-reset-3'])
  expect(await make({ slug: 'own' })).toMatchObject({ code: 'resource_already_exists', error: { param: 'slug' } })
  const renamed = await make({ name: 'Welcome' })
  await w.patch(pathOf(renamed), { name: 'Good morning' })
  expect((await w.get(pathOf(renamed))).body).toMatchObject({ name: 'Good morning', slug: 'welcome' })
  // The other project stands for production: the same name gives the same slug there.
  const { keys } = await w.other()
  const { results } = (await w.get('/api/client/subscriptions', { key: keys.secret })).body
  const there = results.find(({ channel }: { channel: string }) => channel === 'email').id
  expect(await make({}, keys.secret, there)).toMatchObject({ slug: 'password-reset' })
})
