import { expect, it } from 'vitest'
import { formatExperiences } from '../../src/learning/experience-text.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const { app, db } = await openTestApp({ tools: [] })
const bot = callerOf('bot', ['agent'])

/** What was met, and the same in other words. */
const scripts: readonly (readonly [script: string, met: string, again: string])[] = [
  ['Arabic', 'تم خصم المبلغ مرتين من بطاقتي', 'خصم المبلغ مرتين من بطاقتي اليوم'],
  ['Chinese', '同一笔订单被重复扣款，请退款', '我的订单被重复扣款'],
  ['Hebrew', 'חויבתי פעמיים על אותה הזמנה', 'חויבתי פעמיים על ההזמנה'],
  ['Hindi', 'एक ही ऑर्डर के लिए दो बार पैसे कटे', 'ऑर्डर के लिए दो बार पैसे कटे'],
  ['emoji', '💳💳 charged twice 😡👩‍👩‍👧', 'charged twice 💳💳'],
  [
    'marks that turn text around',
    '\u202ecustomer\u202c was \u2067charged\u2069 twice',
    'customer was charged twice',
  ],
  [
    'letters that are put together',
    'Cafe\u0301 Mu\u0308ller doppelt belastet',
    'Café Müller doppelt belastet',
  ],
]

it.each(scripts)('%s comes back as it was told, and is found again', async (script, met, again) => {
  const told = {
    situation: met,
    actionSequence: [{ step: 1, tool: met, input: { [met]: [met] }, outputSummary: met }],
    outcome: met,
    outcomeType: 'success' as const,
    score: 0.9,
    tags: [script, met],
    sessionId: met.slice(0, 60),
    agentId: script,
  }
  const { experience } = await operations.recordExperience.invoke(app, bot, told)

  const { matches, context } = await operations.retrieveExperiences.invoke(app, bot, {
    ...{ situation: again, agentIds: [script], tags: [met] },
  })

  expect(matches.map((one) => one.experience)).toEqual([expect.objectContaining(told)])
  expect(matches[0]?.experience.id).toBe(experience.id)
  expect(context).toBe(formatExperiences(matches))
  expect(context.split('\n').filter((line) => line.startsWith('---'))).toHaveLength(2)
  const { rows } = await db.asOwner('default', (client) =>
    client.query('SELECT situation FROM experiences WHERE id = $1', [experience.id]),
  )
  expect(rows).toEqual([{ situation: met }])
})

it('half a character is refused, wherever it stands', async () => {
  const half = '\ud83d'
  const base = {
    situation: 'x',
    actionSequence: [{ tool: 'look' }],
    ...{ outcome: 'Done', outcomeType: 'success' },
  }
  for (const more of [
    { situation: half },
    { outcome: half },
    { tags: [half] },
    { sessionId: half },
    { actionSequence: [{ tool: 'look', input: { a: half } }] },
  ]) {
    await expect(
      operations.recordExperience.invoke(app, bot, { ...base, ...more }),
    ).rejects.toMatchObject({ code: 'REQUEST_INVALID' })
  }
})
