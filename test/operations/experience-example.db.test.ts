import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createTaskRecorder } from '../../src/learning/experience-recorder.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'

const { app } = await openTestApp({ tools: [] })
const page = readFileSync(new URL('../../docs/experiences.md', import.meta.url), 'utf8')

it('the example of docs/experiences.md records, and finds the block that the page shows', async () => {
  const bot = callerOf('bot', ['agent'])
  const ask =
    (name: 'recordExperience' | 'retrieveExperiences' | 'curateLessons') => (input: unknown) =>
      operations[name].invoke(app, bot, input)
  const client = {
    ...{ recordExperience: ask('recordExperience'), curateLessons: ask('curateLessons') },
    retrieveExperiences: ask('retrieveExperiences'),
  }
  const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(page) ?? []
  const [block = ''] = / {4}--- Relevant[\s\S]*?--- End of past procedures ---/.exec(page) ?? []

  const run = new Function(
    ...['createTaskRecorder', 'client'],
    `return (async () => { ${code}; return context })()`,
  )
  const context: string = await run(createTaskRecorder, client)

  const figures = /\(relevance: .*\)/
  const shown = block.replaceAll(/^ {4}/gm, '')
  expect(context.trim().replace(figures, '')).toBe(shown.replace(figures, ''))
  const { entries } = await operations.getLessons.invoke(app, bot, { taskTag: 'bot' })
  expect(entries.map(({ content }) => content)).toEqual([
    'Avoid: asked for the order number twice',
    'Worked well: The second charge was refunded',
  ])
})
