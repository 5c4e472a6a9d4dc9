import type { OpenApiDocument, OpenApiOperation } from './openapi.ts'

/** The reference for people: one page without scripts, from the API document alone. */
export function referencePage({ info, paths, components }: OpenApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const groups = [...new Set(operations.map(({ operation }) => operation.tags[0] ?? ''))]
  const sections = groups.map((group) => {
    const own = operations.filter(({ operation }) => operation.tags[0] === group)
    return `<h2 id="${group}">${group}</h2>${own.map(section).join('')}`
  })
  const shapes = Object.entries(Object(Object(components).schemas)).map(
    ([name, schema]) =>
      `<details id="shape-${html(name)}"><summary><b>${html(name)}</b></summary><table>${fieldRows(Object(schema), '').join('')}</table></details>`,
  )
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${html(info.title)} API</title><style>${style}</style>
<header><h1>${html(info.title)} API <small>${html(info.version)}</small></h1>
<p>${html(info.description)} Every request but this page, <a href="/openapi.json">openapi.json</a> and health shows a key:
<code>Authorization: Bearer sw_…</code>. Failures are problem documents (RFC 9457) with a stable <code>code</code>.</p>
<nav>${groups.map((group) => `<a href="#${group}">${group}</a>`).join(' ')} <a href="#shapes">shapes</a></nav></header>
<main>${sections.join('')}<h2 id="shapes">shapes</h2>${shapes.join('')}</main></html>`
}

function section(entry: { path: string; method: string; operation: OpenApiOperation }): string {
  const { path, method, operation } = entry
  const { operationId, summary, description, parameters, requestBody, responses } = operation
  const body = Object(requestBody)?.content?.['application/json']?.schema
  const fields = [
    ...parameters.map((parameter) =>
      row(parameter, Object(parameter.schema), String(parameter.in)),
    ),
    ...fieldRows(Object(body), 'body'),
  ]
  const answers = Object.entries(responses).map(
    ([status, answer]) => `<tr><td>${status}<td>${html(answer.description)}`,
  )
  const found = Object.values(responses).map(
    ({ content }) => Object(content)['application/json']?.schema,
  )
  const answered = found.flatMap((schema) => fieldRows(Object(schema), 'answer'))
  return `<details id="${operationId}"><summary><b class="${method}">${method.toUpperCase()}</b> <code>${html(path)}</code> ${html(summary)}</summary>
<p>${html(description)}</p>${fields.length === 0 ? '' : `<table>${fields.join('')}</table>`}<table>${answers.join('')}</table>${answered.length === 0 ? '' : `<table>${answered.join('')}</table>`}</details>`
}

type Schema = Readonly<Record<string, unknown>>

/** A row for each field of a schema, those of the objects in it as `ticket.text` and `items[].id`. */
function fieldRows(schema: Schema, place: string, prefix = ''): readonly string[] {
  const { properties, required, items, anyOf, $ref } = schema
  if (prefix === '' && typeof $ref === 'string') {
    return [row({ name: '(all of it)' }, schema, place)]
  }
  const own = Object.entries(Object(properties)).flatMap(([name, field]) => {
    const path = `${prefix}${name}`
    return [
      row({ name: path, required: [required].flat().includes(name) }, Object(field), place),
      ...fieldRows(Object(field), place, `${path}.`),
    ]
  })
  const ofItems =
    items === undefined ? [] : fieldRows(Object(items), place, `${prefix.replace(/\.$/, '')}[].`)
  const ofForms = [anyOf ?? []].flat().flatMap((form) => fieldRows(Object(form), place, prefix))
  return [...own, ...ofItems, ...ofForms]
}

/** What a value is, in a few words; a shape that has a name links to it. */
function typeText(schema: Schema): string {
  const { type, enum: values, anyOf, items, $ref } = schema
  if (typeof $ref === 'string') {
    const name = html($ref.replace(/^.*\//, ''))
    return `<a href="#shape-${name}">${name}</a>`
  }
  if (Array.isArray(values)) return html(values.join(' | '))
  if (Array.isArray(anyOf)) return anyOf.map((form) => typeText(Object(form))).join(' | ')
  if (type === 'array') return `list of ${typeText(Object(items))}`
  return html([type ?? 'any JSON'].flat().join(' | '))
}

function row(
  { name, required, description }: Readonly<Record<string, unknown>>,
  schema: Readonly<Record<string, unknown>>,
  place: string,
): string {
  const text = description ?? schema.description ?? ''
  return `<tr><td><code>${html(name)}</code>${required === true ? ' *' : ''}<td>${place}<td>${typeText(schema)}<td>${html(text)}`
}

function html(text: unknown): string {
  return String(text).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c2430}
code{font:14px ui-monospace,monospace}nav a{margin-right:1rem}details{border-top:1px solid #d8dde4;padding:.5rem 0}
summary{cursor:pointer}summary b{display:inline-block;width:4.5rem;font-size:.8rem}.get{color:#0a5}.post{color:#06c}.put,.patch{color:#a60}
.delete{color:#c22}table{border-collapse:collapse;width:100%;margin:.5rem 0}td{border-top:1px solid #eef0f3;padding:.25rem .5rem;vertical-align:top;font-size:.9rem}`
