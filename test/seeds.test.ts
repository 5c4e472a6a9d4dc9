import { describe, expect, it } from 'vitest'
import { createDeskTools } from '../seeds/desk-tools.ts'
import { checkDefinition } from '../src/checks/check-definition.ts'
import { requireDefinition } from '../src/domain/parse-definition.ts'
import { buildSummary } from '../src/domain/summary.ts'
import { createToolRegistry } from '../src/domain/tool-registry.ts'
import { seedDefinitions } from './support/app.ts'

const nobody = () => Promise.reject(new Error('no tool is called here'))
const tools = createToolRegistry(
  createDeskTools({ findRefund: nobody, recordRefund: nobody, recordMessage: nobody }),
)

describe.each([...seedDefinitions()])('the playbook %s', (_key, document) => {
  const definition = requireDefinition(document)

  it('passes every check without a word', () => {
    expect(checkDefinition(definition, (name) => tools.find(name)?.contract)).toEqual([])
  })

  it('has what a playbook of the desk should have', () => {
    expect(definition.issuePatterns?.length).toBeGreaterThanOrEqual(4)
    expect(definition.examples?.match).not.toEqual([])
    expect(definition.escalationRules?.every(({ when }) => when !== undefined)).toBe(true)
    expect(definition.replies).toHaveProperty('resolved')
    expect(buildSummary(definition).summary).toContain(
      'Escalate for: transaction state inconsistent; gateway unavailable',
    )
  })
})
