import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../src/domain/define-tool.ts'
import type { Tool } from '../../src/domain/tool.ts'
import { createToolRegistry } from '../../src/domain/tool-registry.ts'

function tool(name: string, change: { description?: string; requires?: string[] } = {}): Tool {
  return defineTool({
    name,
    description: 'Looks.',
    input: z.object({}),
    output: z.string(),
    effect: 'read',
    run: async () => 'seen',
    ...change,
  })
}

test('a tool is found by its name, and nothing else is', () => {
  const check = tool('check_refund')
  const registry = createToolRegistry([check])

  expect(registry.find('check_refund')).toBe(check)
  expect(registry.find('constructor')).toBeUndefined()
  expect([...registry.current.keys()]).toEqual(['check_refund'])
})

test('two contracts of one name stand side by side, and the later one is current', () => {
  const older = tool('check_refund')
  const newer = tool('check_refund', { description: 'Looks twice.' })
  const registry = createToolRegistry([older, newer])

  expect(registry.find('check_refund')).toBe(newer)
  expect(registry.find('check_refund', older.contractHash)).toBe(older)
  expect(registry.find('check_refund', newer.contractHash)).toBe(newer)
  expect(registry.find('check_refund', 'f'.repeat(64))).toBeUndefined()
  expect(registry.find('check_other', older.contractHash)).toBeUndefined()
})

test('a contract that is registered twice and a missing requirement are refused together', () => {
  const attempt = () =>
    createToolRegistry([
      tool('check_refund'),
      tool('check_refund'),
      tool('issue_refund', { requires: ['check_refnd'] }),
    ])

  expect(attempt).toThrow(
    expect.objectContaining({
      code: 'TOOLS_INVALID',
      details: {
        problems: [
          {
            path: '[1]',
            message: "'check_refund' is registered twice with the same contract; remove one",
          },
          {
            path: '[2].requires',
            message:
              "'issue_refund' requires 'check_refnd', which is not registered. Did you mean 'check_refund'?",
          },
        ],
      },
    }),
  )
})

test('a tool may require one that is registered after it', () => {
  const tools = [tool('issue_refund', { requires: ['check_refund'] }), tool('check_refund')]

  expect(createToolRegistry(tools).current.size).toBe(2)
})
