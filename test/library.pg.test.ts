import { expect, it } from 'vitest'
import { createStepwarden, type Principal } from '../src/index.ts'
import { ngramEmbedder } from '../src/search/ngram-embedder.ts'
import { openTestDatabase } from './support/database.ts'

const { config: database } = await openTestDatabase()
const ann: Principal = {
  id: 'ann',
  kind: 'human',
  roles: ['admin'],
  groups: [],
  tenantId: 'default',
}

it('on a server the library takes on no run that it was not asked for, unless it is told to', async () => {
  const options = { database, embedder: ngramEmbedder }
  await using first = await createStepwarden(options)
  const client = first.as(ann)
  const procedureKey = 'LEFT_PLAYBOOK'
  const steps = [{ key: 'sum', action: 'Add', compute: { n: '1 + 1' } }]
  const definition = { key: procedureKey, name: 'Left', description: 'Left', steps }
  await client.createProcedure({ definition })
  await client.activateVersion({ procedureKey, versionNumber: 1, seenActive: null })
  const { execution } = await client.startExecution({ procedureKey, detach: true })
  const status = async () =>
    (await client.getExecution({ executionId: execution.id as never })).execution.status

  await using _script = await createStepwarden(options)
  expect(await status()).toBe('pending')

  await using _service = await createStepwarden({ ...options, recover: true })
  expect(await status()).toBe('completed')
})
