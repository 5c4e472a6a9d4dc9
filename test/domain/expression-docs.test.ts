import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { library } from '../../src/domain/expression/library.ts'
import {
  ExpressionFailed,
  findingRules,
  parseExpression,
  type Scope,
} from '../../src/domain/expression.ts'
import { parseTemplate, TemplateUnresolved } from '../../src/domain/template.ts'

const page = readFileSync(new URL('../../docs/expressions.md', import.meta.url), 'utf8')

function blocks(language: string): readonly string[] {
  return [...page.matchAll(/```(.*)\n([^`]*)```/g)]
    .filter((match) => match[1] === language)
    .flatMap((match) => (match[2] ?? '').split('\n').filter((line) => line.trim() !== ''))
}

const written = JSON.parse(blocks('json scope').join('\n'))
const scope: Scope = { ...written, now: Date.parse(written.now) }

/** What a line of the page gives: JSON, or `error: …` and `refused: …` with the message. */
function outcomeOfExpression(source: string): string {
  const result = parseExpression(source)
  if ('problems' in result) return `refused: ${result.problems[0]?.message}`
  try {
    return JSON.stringify(result.expression.evaluate(scope))
  } catch (error) {
    if (error instanceof ExpressionFailed) return `error: ${error.reason}`
    throw error
  }
}

function outcomeOfTemplate(value: string): string {
  const result = parseTemplate(JSON.parse(value))
  if ('problems' in result) return `refused: ${result.problems[0]?.message}`
  try {
    return JSON.stringify(result.template.resolve(scope))
  } catch (error) {
    if (error instanceof TemplateUnresolved) return `error: ${error.message}`
    throw error
  }
}

function expectOutcome(found: string, promised: string): void {
  const [kind, text] = promised.split(/: (.*)/s)
  if (kind === 'error' || kind === 'refused') {
    expect(found.startsWith(`${kind}: `), found).toBe(true)
    expect(found).toContain(text)
  } else {
    expect(JSON.parse(found)).toEqual(JSON.parse(promised))
  }
}

describe('docs/expressions.md', () => {
  it.each(blocks('cel'))('gives what the page says: %s', (line) => {
    const [, source = '', promised = ''] = /^(.*?)\s*\/\/ (.*)$/.exec(line) ?? []

    expectOutcome(outcomeOfExpression(source), promised)
  })

  it.each(blocks('template'))('fills in what the page says: %s', (line) => {
    const [, value = '', promised = ''] = /^(.*?)\s*=> (.*)$/.exec(line) ?? []

    expectOutcome(outcomeOfTemplate(value), promised)
  })

  it('describes every function of the library', () => {
    const table = page.slice(page.indexOf('## Functions'), page.indexOf('## Limits'))

    const missing = [...library.keys()].filter((name) => !new RegExp(`\`${name}[(\`]`).test(table))

    expect(missing).toEqual([])
  })

  it('describes every rule of the check with its severity', () => {
    for (const [rule, severity] of Object.entries(findingRules)) {
      expect(page).toMatch(new RegExp(`\\| \`${rule}\` *\\| ${severity} *\\|`))
    }
  })
})
