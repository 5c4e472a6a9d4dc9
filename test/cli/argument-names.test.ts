import { expect, test } from 'vitest'
import { namingArguments } from '../../src/cli/argument-names.ts'
import { commands } from '../../src/cli/commands.ts'
import { ServiceError } from '../../src/domain/errors.ts'

async function told(path: string, field: string): Promise<string> {
  const command = commands.find((one) => one.path === path)
  if (command === undefined) throw new Error(`there is no command ${path}`)
  const refused = namingArguments(command, async () => {
    const problems = [{ path: field, message: 'is wrong' }]
    throw new ServiceError('REQUEST_INVALID', { operation: 'anOperation', problems })
  })
  return refused.catch((error: Error) => error.message)
}

test.each([
  ['search', 'issue', 'TEXT'],
  ['search', 'topK', '--top'],
  ['resolve', 'ticket.text', 'TEXT'],
  ['resolve', 'ticket.language', '--language'],
  ['resolve', 'procedureKey', '--procedure'],
  ['resolve', 'idempotencyKey', '--idempotency-key'],
  ['executions start', 'procedureKey', 'KEY'],
  ['executions start', 'ticket.text', '--ticket'],
  ['executions list', 'procedureKey', '--procedure'],
  ['executions list', 'status', '--status'],
  ['executions show', 'executionId', 'ID'],
  ['escalations resolve', 'resolution', 'TEXT'],
  ['escalations assign', 'assignee', 'ASSIGNEE'],
  ['procedures activate', 'versionNumber', 'NUMBER'],
  ['procedures new-version', 'fromVersionNumber', '--from'],
  ['procedures rollback', 'toVersionNumber', 'NUMBER'],
  ['procedures stop', 'reason', '--reason'],
  ['tools stop', 'tool', 'NAME'],
  ['embeddings switch', 'model', 'MODEL'],
  ['keys create', 'expiresInDays', '--expires'],
  ['principals add', 'roles[0]', '--roles'],
  ['webhooks add', 'events[1]', '--events'],
  ['executions list', 'ticketId', '--ticket'],
  ['stats', 'unknown.field', 'unknown.field'],
])('what is wrong with the input of %s: %s is told as %s', async (path, field, name) => {
  expect(await told(path, field)).toBe(
    `stepwarden ${path} was called with 1 problem:\n  ${name}: is wrong`,
  )
})

test('other errors stay as they are', async () => {
  const [command] = commands
  const error = new ServiceError('INTERNAL', {})
  const run = async () => {
    throw error
  }

  await expect(command && namingArguments(command, run)).rejects.toBe(error)
})
