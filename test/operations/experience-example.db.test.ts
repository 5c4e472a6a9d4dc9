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
  const client = {
    recordExperience: (task: Parameters<Recording>[0]) =>
      operations.recordExperience.invoke(app, bot, task),
    retrieveExperiences: (input: object) => operations.retrieveExperiences.invoke(app, bot, input),
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
})

type Recording = Parameters<typeof createTaskRecorder>[0]['recordExperience']
