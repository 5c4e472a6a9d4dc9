import type { StepRow } from '../domain/execution.ts'
import type { Path, Scope } from '../domain/expression.ts'
import { isJsonObject, type Json, type JsonSchema } from '../domain/json.ts'
import { type Scalar, scalarsOf } from '../domain/scalars.ts'
import type { Template } from '../domain/template.ts'
import type { Plan, PlanNode } from '../executor/plan.ts'
import { ticketText } from '../reply/built-in.ts'
import { kindOf } from '../reply/fact-kind.ts'
import { overlap, type Unsayable } from '../reply/facts.ts'
import { withhold } from '../reply/withhold.ts'

const sensitiveWhy = 'it is sensitive'
/** Of a place with more such values nothing may be shown. */
const maxPaths = 200

/**
 * What of a run no reply may show, and its sensitive values.
 *
 * Sensitive is what a schema says so of, in the input, in answers, and in what any tool was sent or answered, whatever
 * came of the call; what was read into such a place; what is kept `apart` of the run; and every text that holds such a
 * value. The customer's words are the ticket's text, prose of the input that stands in it, and what a tool that was given
 * them answers in words of its own. What is computed from either is the same.
 */
export function findUnsayable(
  plan: Plan,
  rows: readonly StepRow[],
  scope: Scope,
  apart: readonly Json[],
): { readonly unsayable: readonly Unsayable[]; readonly sensitive: readonly Json[] } {
  const places = placesOf(plan, rows, scope)
  const sensitive = sensitiveValues(plan, rows, places, scope, apart)
  const told = foldedTicket(scope)
  const found: Unsayable[] = [
    ticketText,
    ...sensitiveSources(plan).map((path) => ({ path, why: sensitiveWhy })),
    ...places.flatMap(({ root, scalars }) =>
      unsayableIn(root, scalars, sensitiveWhy, (scalar) => isSecret(scalar, sensitive)),
    ),
    ...unsayableIn(['input'], places[0]?.scalars ?? [], ticketText.why, (scalar) =>
      isProseOf(told, scalar),
    ),
  ]
  for (const row of rows) {
    const node = plan.nodes.get(row.stepKey)
    if (node !== undefined && row.status === 'completed') taint(plan, node, row, told, found)
  }
  return { unsayable: found, sensitive }
}

/** Adds what a step made out of what may not be shown. */
function taint(plan: Plan, node: PlanNode, row: StepRow, told: string, found: Unsayable[]): void {
  const reasonFor = (paths: readonly Path[]): string | undefined =>
    found.find((other) => paths.some((path) => overlap(path, other.path)))?.why
  const root: Path = ['steps', node.key, 'output']
  if (node.kind === 'compute') {
    for (const [name, { reads }] of node.values) {
      const why = reasonFor(reads.paths.map(({ path }) => path))
      if (why !== undefined) found.push({ path: [...root, name], why })
    }
  } else if (node.kind === 'end' && node.text !== undefined) {
    const why = reasonFor(pathsOf(node.text))
    if (why !== undefined) found.push({ path: root, why })
  } else if (node.kind === 'tool') {
    const schema = plan.tools.get(node.step.tool)?.contract.output ?? {}
    const isTold = pathsOf(node.input).some((path) =>
      found.some((other) => other.why === ticketText.why && overlap(path, other.path)),
    )
    if (!isTold) return
    const scalars = scalarsOf(row.output, schema)
    found.push(
      ...unsayableIn(root, scalars, ticketText.why, (scalar) => !isOwn(scalar, schema, told)),
    )
  }
}

/**
 * Whether a value is a tool's own, though the tool was given the customer's words: a state that it declares, yes, no and
 * nothing, and an id that does not stand in the ticket. Numbers, amounts, times and prose may have been read there.
 */
function isOwn({ path, value }: Scalar, schema: JsonSchema, told: string): boolean {
  if (value === null || typeof value === 'boolean') return true
  const kind = kindOf(value, path, schema)
  return kind === 'state' || (kind === 'id' && !told.includes(folded(value)))
}

function isSecret({ value, isSensitive }: Scalar, sensitive: readonly Json[]): boolean {
  if (isSensitive) return true
  if (typeof value !== 'string' && typeof value !== 'number') return false
  return withhold(String(value), sensitive) !== String(value)
}

/** Whether a value of several words stands in the ticket, or has all of the ticket in it. */
function isProseOf(told: string, { value }: Scalar): boolean {
  if (typeof value !== 'string' || !/\s/.test(value) || told === '') return false
  return told.includes(folded(value)) || folded(value).includes(told)
}

function unsayableIn(
  root: Path,
  scalars: readonly Scalar[],
  why: string,
  isUnsayable: (scalar: Scalar) => boolean,
): readonly Unsayable[] {
  const those = scalars.filter(isUnsayable)
  return those.length > maxPaths
    ? [{ path: root, why }]
    : those.map(({ path }) => ({ path: [...root, ...path], why }))
}

interface Place {
  readonly root: Path
  readonly scalars: readonly Scalar[]
}

/** All that can be read of a run by a path: first its input, then the outputs of its steps. */
function placesOf(plan: Plan, rows: readonly StepRow[], { input }: Scope): readonly Place[] {
  const outputs = rows.flatMap(({ stepKey, tool, output }): Place[] => {
    const node = plan.nodes.get(stepKey)
    const asked = node?.kind === 'ask' ? node.step.answer : {}
    const schema = plan.tools.get(tool ?? '')?.contract.output ?? asked
    return [{ root: ['steps', stepKey, 'output'], scalars: scalarsOf(output, schema) }]
  })
  return [{ root: ['input'], scalars: scalarsOf(input, plan.definition.input ?? {}) }, ...outputs]
}

function sensitiveValues(
  plan: Plan,
  rows: readonly StepRow[],
  places: readonly Place[],
  scope: Scope,
  apart: readonly Json[],
): readonly Json[] {
  const sent = rows.flatMap(({ tool, input }) =>
    scalarsOf(input, plan.tools.get(tool ?? '')?.contract.input ?? {}),
  )
  const marked = [...places.flatMap(({ scalars }) => scalars), ...sent].filter(
    ({ isSensitive }) => isSensitive,
  )
  const read = sensitiveSources(plan).flatMap((path) => scalarsOf(valueAt(scope, path), {}))
  const values = [...marked, ...read].map(({ value }) => value)
  return [...new Set([...values, ...apart])].filter(
    (value) => typeof value === 'string' || typeof value === 'number',
  )
}

/** What the playbook reads into places of tools that are sensitive, whether the tool was called or not. */
function sensitiveSources(plan: Plan): readonly Path[] {
  return [...plan.nodes.values()].flatMap((node) => {
    const contract = node.kind === 'tool' && plan.tools.get(node.step.tool)?.contract
    if (node.kind !== 'tool' || !contract) return []
    const places = scalarsOf(node.input.value, contract.input).filter((at) => at.isSensitive)
    return node.input.strings
      .filter(({ place }) => places.some(({ path }) => path.join('\0') === place.join('\0')))
      .flatMap(({ parts }) =>
        parts.flatMap((part) => (typeof part === 'string' ? [] : [part.path])),
      )
  })
}

function valueAt(scope: Scope, [root, ...links]: Path): Json {
  let value: Json | undefined = root === 'input' || root === 'steps' ? scope[root] : null
  for (const link of links) {
    value = isJsonObject(value) || Array.isArray(value) ? Object(value)[link] : undefined
  }
  return value ?? null
}

function pathsOf({ reads }: Template): readonly Path[] {
  return reads.map(({ path }) => path)
}

function foldedTicket({ ticket }: Scope): string {
  return isJsonObject(ticket) ? folded(ticket.text ?? '') : ''
}

/** Letters and digits alone: neither case nor marks make other words of the same ones. */
function folded(value: Json): string {
  return String(value)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
}
