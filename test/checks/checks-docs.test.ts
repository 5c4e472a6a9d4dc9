import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createDeskTools } from '../../seeds/desk-tools.ts'
import { checkCaller } from '../../src/checks/caller-checks.ts'
import { checkDefinition } from '../../src/checks/check-definition.ts'
import { procedureSet } from '../../src/checks/procedure-set.ts'
import { type Rule, rules } from '../../src/checks/rules.ts'
import { readDocument } from '../../src/documents/read-document.ts'
import type { Definition } from '../../src/domain/definition.ts'
import { isServiceError } from '../../src/domain/errors.ts'
import { findingRules } from '../../src/domain/expression.ts'
import type { Finding } from '../../src/domain/finding.ts'
import type { JsonObject } from '../../src/domain/json.ts'
import { parseDefinition, requireDefinition } from '../../src/domain/parse-definition.ts'
import { createToolRegistry } from '../../src/domain/tool-registry.ts'
import { contractOf, definitionOf } from '../support/walk.ts'

const page = readFileSync(new URL('../../docs/checks.md', import.meta.url), 'utf8')
const known: Readonly<Record<string, Rule>> = rules

/** The text of each entry, by rule. */
const entries = new Map(
  page
    .split(/^##+ (?=`)/m)
    .slice(1)
    .map((section) => {
      const [, id = '', body = ''] = /^`([a-z-]+)`\n([\s\S]*)/.exec(section) ?? []
      return [id, body.split(/^## /m)[0] ?? ''] as const
    }),
)

function blockOf(text: string, info: string): string | undefined {
  return new RegExp(`^\`\`\`yaml ${info}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(text)?.[1]
}

const nobody = () => Promise.reject(new Error('no tool is called here'))
const desk = createToolRegistry(
  createDeskTools({ findRefund: nobody, recordRefund: nobody, recordMessage: nobody }),
)
const voucher = contractOf('send_voucher', {
  effect: 'write',
  idempotent: false,
  input: {
    type: 'object',
    required: ['amount'],
    additionalProperties: false,
    properties: { amount: { type: 'number' } },
  },
})
const findContract = (name: string) => (name === voucher.name ? voucher : desk.find(name)?.contract)

const leaf = definitionOf({ steps: [{ key: 'known', action: 'Know', compute: { known: 'true' } }] })

function calling(key: string, called: string): Definition {
  return { ...leaf, key, steps: [{ key: 'down', action: 'Call', call: called }] }
}
const procedures: readonly Definition[] = [
  {
    ...leaf,
    key: 'IDENTIFY_CUSTOMER',
    input: { type: 'object', required: ['email'], properties: { email: { type: 'string' } } },
  },
  calling('ASK_EXAMPLE', 'EXAMPLE_PLAYBOOK'),
  ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => calling(`LEVEL_${n}`, `LEVEL_${n + 1}`)),
  { ...leaf, key: 'LEVEL_9' },
]
const findProcedure = procedureSet(procedures, findContract, 'none')
/** As `stepwarden check` finds them, which has files and no database. */
const findAmongFiles = procedureSet(procedures, findContract, 'unknown')

const base = Object(readDocument(blockOf(page, 'base') ?? '', { name: 'base' }).value)

const usesExample = definitionOf({
  key: 'USES_EXAMPLE',
  steps: [{ key: 'use', action: 'Use', call: 'EXAMPLE_PLAYBOOK', with: { transactionId: 'x' } }],
})

/** What a definition would break in the playbook that calls it. */
function brokenBy(definition: Definition): readonly Finding[] {
  const [before, after] = [requireDefinition(base), definition].map((one) =>
    procedureSet([one], findContract, 'none'),
  )
  if (before === undefined || after === undefined) return []
  const caller = { definition: usesExample, versionNumber: 1, before, after }
  return checkCaller(caller, findContract).findings
}

/** The rules that an example draws, each once. */
function drawnBy(fragment: string, rule: string): readonly string[] {
  let value: JsonObject
  try {
    value = { ...base, ...Object(readDocument(fragment, { name: rule }).value) }
  } catch (error) {
    if (!isServiceError(error, 'DOCUMENT_INVALID')) throw error
    return ['document-invalid']
  }
  const parsed = parseDefinition(value)
  if ('problems' in parsed) return ['definition-invalid']
  const findings = [
    ...checkDefinition(
      parsed.definition,
      findContract,
      rule === 'call-unchecked' ? findAmongFiles : findProcedure,
    ),
    ...(rule === 'caller-broken' ? brokenBy(parsed.definition) : []),
  ]
  const drawn = new Set(findings.map((finding) => finding.rule))
  return [...drawn]
}

/** Only a playbook of many thousand lines draws the first, see limits.test.ts; the others need those that serve. */
const withoutExample = [
  'too-complex',
  'example-routed-elsewhere',
  'no-match-routed-here',
  'example-taken-away',
]

describe('docs/checks.md', () => {
  test('has an entry and a line for every rule, and no other', () => {
    const lines = [...page.matchAll(/^\| \[`([a-z-]+)`\]\(#\1\) \| (\w+) \| (.*) \|$/gm)]

    expect([...entries.keys()].sort()).toEqual(Object.keys(rules).sort())
    expect(
      Object.fromEntries(lines.map(([, id, severity, finds]) => [id, { severity, finds }])),
    ).toEqual(rules)
  })

  test.each([...entries])('%s: says how serious it is', (id, text) => {
    expect(text.trim()).toMatch(new RegExp(`^${known[id]?.severity}\\.`, 'i'))
  })

  test.each([...entries.keys()].filter((id) => !withoutExample.includes(id)))(
    '%s: the wrong example draws it and nothing else, the right one nothing',
    (id) => {
      const text = entries.get(id) ?? ''

      expect(drawnBy(blockOf(text, 'wrong') ?? '', id)).toEqual([id])
      expect(drawnBy(blockOf(text, 'right') ?? '', id)).toEqual([])
    },
  )

  test('the rules of the type check are among them, as serious as they are there', () => {
    for (const [id, severity] of Object.entries(findingRules)) {
      expect(known[id]?.severity).toBe(severity)
    }
  })
})

const language = readFileSync(new URL('../../docs/language.md', import.meta.url), 'utf8')

test('the waits of docs/language.md are steps that draw nothing', () => {
  const steps = readDocument(blockOf(language, 'waits') ?? '', { name: 'docs/language.md' }).value

  const definition = requireDefinition({ ...base, steps })

  expect(checkDefinition(definition, findContract, findProcedure)).toEqual([])
})

test('the whole example of docs/language.md draws nothing', () => {
  const example = readDocument(blockOf(language, 'complete') ?? '', { name: 'docs/language.md' })

  const definition = requireDefinition(example.value)

  expect(checkDefinition(definition, findContract, findProcedure)).toEqual([])
})
