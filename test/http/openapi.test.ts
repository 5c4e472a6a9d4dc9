import { Validator } from '@seriousme/openapi-schema-validator'
import openapiTypescript, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { openApiDocument } from '../../src/http/openapi.ts'
import { referencePage } from '../../src/http/reference-page.ts'
import { routes } from '../../src/http/routes.ts'

const document = openApiDocument('1.2.3')

it('is an OpenAPI document, and names every route', async () => {
  const result = await new Validator().validate(JSON.parse(JSON.stringify(document)))
  expect(result.errors ?? []).toEqual([])
  const ids = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )
  expect(ids.sort()).toEqual([...routes.map(({ id }) => id), 'streamExecutionEvents'].sort())
})

it('gives every field a type, but for what may be any JSON', () => {
  const bare: string[] = []
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [name, part] of Object.entries(value)) walk(part, `${path}/${name}`)
    const { properties } = value as { properties?: object }
    for (const [name, schema] of Object.entries(properties ?? {})) {
      const isTyped = ['type', '$ref', 'anyOf', 'oneOf', 'allOf', 'const', 'enum'].some(
        (word) => word in schema,
      )
      if (!isTyped) bare.push(name)
    }
  }
  walk(document, '')
  expect([...new Set(bare)].sort()).toEqual(anyJsonFields)
})

/** What an author, a tool or an answer says, of whatever form. */
const anyJsonFields: readonly string[] = [
  'answer',
  'asks',
  'definition',
  'details',
  'execution',
  'input',
  'output',
  'result',
  'row',
  'scenarios',
  'value',
]

it('is one that a generator makes a client of', async () => {
  const nodes = await openapiTypescript(structuredClone(document) as never)
  const text = astToString(nodes)
  const { diagnostics = [] } = ts.transpileModule(text, { reportDiagnostics: true })
  expect(diagnostics).toEqual([])
  for (const { id } of routes) expect(text).toMatch(new RegExp(`\\b${id}\\b`))
  expect(text).not.toMatch(/requestBody\?: never;[^}]*procedureKey: unknown/)
  // Nothing but an empty object could be given for such a field.
  expect(text).not.toMatch(/^ +\w+\??: .*Record<string, never>/m)
})

it('is a page for people with the fields of requests and answers, those of objects in them too', () => {
  const page = referencePage(document)
  const [section = ''] = /<details id="resolveTicket">.*?<\/details>/s.exec(page) ?? []
  expect(section).toMatch(/<code>ticket\.text<\/code> \*<td>body<td>string/)
  expect(section).toMatch(/<code>selection\.candidates\[\]\.similarity<\/code> \*<td>answer/)
  expect(section).toMatch(/<code>execution<\/code> \*<td>answer<td><a href="#shape-Execution">/)
  const targets = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)
  expect(targets.filter((id) => !page.includes(`id="${id}"`))).toEqual([])
})

it('keeps what was learned together, and leaves no chapter empty', () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  for (const { operationId, tags } of operations) {
    if (/Experience|Lesson/.test(operationId))
      expect([operationId, tags]).toEqual([operationId, ['learning']])
  }
  const used = new Set(operations.flatMap(({ tags }) => tags))
  expect(document.tags).toHaveLength(used.size)
  for (const name of used) expect(document.tags).toContainEqual(expect.objectContaining({ name }))
})
