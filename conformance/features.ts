import { readdirSync, readFileSync } from 'node:fs'
import { readDocument } from '../src/documents/read-document.ts'
import { isJsonObject, type Json } from '../src/domain/json.ts'
import type { Domain } from './sopbench/cases.ts'
import { learn } from './sopbench/domain-tools.ts'
import { expressionRules } from './sopbench/expression-rules.ts'
import { writePlaybook } from './sopbench/write-playbook.ts'

/** How many procedures a part of the language carries, with the first few of them. */
export interface FeatureRow {
  readonly feature: string
  /** Procedures of the benchmark, and playbooks written by hand. */
  readonly counts: readonly [generated: number, written: number]
  readonly instances: readonly string[]
}

/** A document of a procedure: all its expressions in one text, without the texts in them, and all of it as JSON. */
interface Described {
  readonly id: string
  readonly isGenerated: boolean
  readonly cel: string
  readonly json: string
}

const features: readonly (readonly [feature: string, isUsed: (of: Described) => boolean])[] = [
  ['`require` with `otherwise: declined`', ({ json }) => /"otherwise":"declined"/.test(json)],
  [
    'conditions of several rules (`||`)',
    ({ json, isGenerated }) => isGenerated && /"text":"[^"]* or [^"]*"/.test(json),
  ],
  [
    'negated rules',
    ({ json, isGenerated }) => isGenerated && /"text":"(?:[^"]* or )?not /.test(json),
  ],
  [
    'steps that run only with their data (`when: has(…)`), and what became of them (`status`)',
    ({ json, cel }) => /"when":"[^"]*has\(input/.test(json) && /\.status ==/.test(cel),
  ],
  [
    'a refusal told from a breakdown (`error.kind`), which escalates',
    ({ cel }) => /\.error\.kind\b/.test(cel),
  ],
  ['`policy` constants', ({ cel }) => /\bpolicy\./.test(cel)],
  [
    'dates (`parseDate`, `daysBetween`, `hoursBetween`, `yearsBetween`, `addDays`)',
    ({ cel }) => /\b(?:parseDate|\w+Between|addDays|addHours|date)\(/.test(cel),
  ],
  ['whether a text is a date (`isDate`)', ({ cel }) => /\bisDate\(/.test(cel)],
  ['membership (`in` a list, a map, written values)', ({ cel }) => / in /.test(cel)],
  ['arithmetic', ({ cel }) => / [-+*/%] /.test(cel)],
  [
    'values that may be absent or null (`has` of an answer)',
    ({ cel }) => /has\((?!input)/.test(cel),
  ],
  ['quantifiers (`all`, `exists`)', ({ cel }) => /\.(?:all|exists)\(/.test(cel)],
  [
    'parts of texts (`contains`, `startsWith`, `split`)',
    ({ cel }) => /\.(?:contains|startsWith|endsWith|split|substring)\(/.test(cel),
  ],
  ['case-insensitive text (`lower`)', ({ cel }) => /\blower\(/.test(cel)],
  [
    'items that are filtered, counted, mapped (`filter`, `map`, `size`)',
    ({ cel }) => /\.(?:filter|map)\(|size\(/.test(cel),
  ],
  ['a choice of values (`? :`)', ({ cel }) => / \? /.test(cel)],
  ['sums (`sum`)', ({ cel }) => /\bsum\(/.test(cel)],
  [
    '`compute` and `firstOf`',
    ({ json, cel }) => /"compute":/.test(json) || /\bfirstOf\(/.test(cel),
  ],
  [
    '`expect` on the goal tool, so that nothing works twice unseen',
    ({ json }) => /"expect":/.test(json),
  ],
]

/** What carries which procedures: one row for each part of the language that some procedure uses. */
export function featureRows(domains: readonly Domain[]): readonly FeatureRow[] {
  const all = [...domains.flatMap(generated), ...written()]
  return features.map(([feature, isUsed]) => {
    const using = all.filter(isUsed)
    const made = using.filter(({ isGenerated }) => isGenerated)
    return {
      feature,
      counts: [made.length, using.length - made.length],
      instances: (made.length > 0 ? made : using).map(({ id }) => id),
    }
  })
}

function generated(domain: Domain): readonly Described[] {
  const learned = learn(domain)
  const writing = { mark: 'RULES', rules: expressionRules(domain.tools, learned), policy: {} }
  return domain.procedures.map(({ id }) =>
    describe(id, true, writePlaybook(domain, learned, id, writing).definition),
  )
}

function written(): readonly Described[] {
  const folder = new URL('playbooks/', import.meta.url)
  return readdirSync(folder).map((name) => {
    const { value } = readDocument(readFileSync(new URL(name, folder), 'utf8'), { name })
    return describe(`retail/${name.replace(/\.yaml$/, '').replaceAll('-', '_')}`, false, value)
  })
}

function describe(id: string, isGenerated: boolean, definition: Json): Described {
  const cel = expressionsIn(definition)
    .join('\n')
    .replace(/'(\\.|[^'\\])*'/g, "''")
  return { id, isGenerated, cel, json: JSON.stringify(definition) }
}

const expressionFields = new Set(['when', 'until', 'expect', 'forEach'])

function expressionsIn(value: Json, field = ''): readonly string[] {
  if (typeof value === 'string') return expressionFields.has(field) ? [value] : []
  if (Array.isArray(value)) return value.flatMap((item) => expressionsIn(item, field))
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) =>
    field === 'compute' && typeof member === 'string' ? [member] : expressionsIn(member, name),
  )
}

/** The rows as a table for a page. */
export function featureTable(rows: readonly FeatureRow[]): string {
  const lines = rows.map(({ feature, counts, instances }) => {
    const figures = counts[1] === 0 ? String(counts[0]) : counts.join(' and ')
    return `| ${feature.replaceAll('||', '\\|\\|')} | ${figures} | ${spread(instances).join(', ')} |`
  })
  return ['| of the language | procedures | for instance |', '| --- | --- | --- |', ...lines].join(
    '\n',
  )
}

/** Up to three procedures, each of another domain where there are so many. */
function spread(ids: readonly string[]): readonly string[] {
  const domains = new Map(
    ids.toReversed().map((id) => [id.split('/')[0], id.split('/').slice(0, 2).join('/')]),
  )
  return [...domains.values()].sort().slice(0, 3)
}
