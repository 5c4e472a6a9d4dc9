import { expect, it } from 'vitest'
import { isServiceError } from '../../src/domain/errors.ts'
import { operations } from '../../src/operations/registry.ts'
import { openTestApp } from '../support/app.ts'
import { callerOf } from '../support/caller.ts'
import { newModel, oldModel, wordDefinition } from '../support/switch.ts'

const { app } = await openTestApp({ tools: [], embedder: oldModel, hostedEmbedder: newModel })
const admin = callerOf()

/** Makes and activates a procedure, again where a switch has come between. */
async function serve(key: string): Promise<void> {
  const definition = wordDefinition(key, 'login')
  const version = { procedureKey: key, versionNumber: 1, seenActive: null }
  await again('EMBEDDING_MODEL_CHANGED', () =>
    operations.createProcedure.invoke(app, admin, { definition }),
  )
  for (let revision = 1; ; revision += 1) {
    try {
      await operations.activateVersion.invoke(app, admin, version)
      return
    } catch (error) {
      if (!isServiceError(error, 'VERSION_NOT_EMBEDDED')) throw error
      const edit = { procedureKey: key, versionNumber: 1, revision, definition }
      await again('EMBEDDING_MODEL_CHANGED', () => operations.editDraft.invoke(app, admin, edit))
    }
  }
}

async function again(code: 'EMBEDDING_MODEL_CHANGED', run: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await run()
      return
    } catch (error) {
      if (!isServiceError(error, code)) throw error
    }
  }
}

async function keysFound(): Promise<readonly string[]> {
  const selection = await operations.searchProcedures.invoke(app, admin, {
    issue: 'login',
    topK: 20,
  })
  expect(selection.fellBack).toBe(false)
  return selection.candidates.map(({ procedureKey }) => procedureKey)
}

it('finds every version that serves at any moment of switches that two processes carry on', async () => {
  const serving: string[] = []
  let isOver = false
  const saves = async () => {
    for (let index = 0; index < 15; index += 1) {
      const key = `LOGIN_${index}`
      await serve(key)
      serving.push(key)
    }
    isOver = true
  }
  const switches = async () => {
    for (let turn = 0; !isOver; turn += 1) {
      const { model } = turn % 2 === 0 ? newModel : oldModel
      await operations.switchEmbeddings.invoke(app, admin, { model })
      for (let isDone = false; !isDone; ) {
        const both = [1, 2].map(() => operations.continueEmbeddingSwitch.invoke(app, admin, {}))
        isDone = (await Promise.all(both)).some((progress) => progress.isDone)
      }
    }
  }
  const searches = async () => {
    while (!isOver) {
      const before = [...serving]
      expect(await keysFound()).toEqual(expect.arrayContaining(before))
    }
  }

  await Promise.all([saves(), switches(), searches()])

  expect((await keysFound()).length).toBe(15)
}, 60_000)
