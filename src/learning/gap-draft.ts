import { canonicalJson, sha256 } from '../domain/canonical.ts'
import type { Json, JsonObject } from '../domain/json.ts'
import { commonWordsOf, patternsOf, withoutValues } from './demonstration-patterns.ts'
import type { Gap } from './gap.ts'

/** So many words in a name, and examples in a draft. */
const nameWords = 4
const draftExamples = 5
const exampleCharacters = 300
/** Of a long ticket the beginning says what it is about. */
const readCharacters = 2_000
/** The oldest say it as well as all of them. */
const readTickets = 200
const maxPatterns = 6

/** How a gap would be called, in words of its tickets; null where these have none in common. */
export function nameOfGap({ tickets }: Gap): string | null {
  const words = commonWordsOf(textsOf(tickets), nameWords).join(' ')
  return words === '' ? null : `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`.slice(0, 100)
}

/**
 * A draft for a gap of which nobody has shown how it is resolved: who finds it is found by its tickets, and asks a person.
 * It says so itself, and what it lacks is for whoever accepts it. No word that one ticket alone has is in it but in the
 * examples, and these have no number, id or address.
 */
export function skeletonOf(gap: Gap, named: { readonly name?: string | undefined }): JsonObject {
  const name = named.name ?? nameOfGap(gap) ?? unnamed(gap)
  return {
    key: keyOf(name, gap),
    name,
    description: `${whatItIs(gap)} What is to be done is not written yet.`,
    ...routingOf(gap),
    steps: [
      {
        key: 'handle',
        action: 'Resolve it by hand, and write down how',
        ask: 'agent',
        message:
          'No playbook says yet what is to be done here. Resolve it as you would without one, and write down what you did: that is what the next version is made of.',
        answer: {
          type: 'object',
          required: ['done'],
          properties: {
            done: { type: 'string', description: 'What was done, and what came of it' },
          },
        },
        deadline: '1d',
      },
    ],
    completionConditions: [
      { text: 'Somebody has said what was done', when: 'has(steps.handle.output.done)' },
    ],
    successCriteria: 'The customer has an answer, and the record says how it was found.',
  }
}

/** A draft that was learned from others, with what finds it for the tickets of a gap. */
export function withRouting(definition: JsonObject, gap: Gap): JsonObject {
  const { examples, issuePatterns = [] } = routingOf(gap)
  const learned = Array.isArray(definition.issuePatterns) ? definition.issuePatterns : []
  const patterns = [...new Set([...issuePatterns, ...learned])].slice(0, maxPatterns)
  return {
    ...definition,
    ...(patterns.length > 0 && { issuePatterns: patterns }),
    ...(examples !== undefined && { examples }),
  }
}

/** The texts of a gap's tickets as a playbook may have them: each once. */
export function examplesOfGap({ tickets }: Gap): readonly string[] {
  const texts = textsOf(tickets).map((text) => withoutValues(text).replaceAll(/\s+/g, ' ').trim())
  const short = texts.map((text) =>
    text.length <= exampleCharacters ? text : `${text.slice(0, exampleCharacters - 1)}…`,
  )
  // The shortest say it best, and hold the least of anybody.
  const different = [...new Set(short.map((text) => text.toWellFormed()))]
  return different
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    .filter((text) => /\p{L}/u.test(text))
    .slice(0, draftExamples)
}

function routingOf(gap: Gap): {
  readonly issuePatterns?: readonly Json[]
  readonly examples?: { readonly match: readonly Json[] }
} {
  const texts = textsOf(gap.tickets)
  const patterns = new Set(texts).size > 1 ? patternsOf(texts) : []
  const match = examplesOfGap(gap)
  return {
    ...(patterns.length > 0 && { issuePatterns: patterns }),
    ...(match.length > 0 && { examples: { match } }),
  }
}

function whatItIs({ kind, tickets, code, procedureKey, versionNumber, stepKey }: Gap): string {
  const count = tickets.length === 1 ? 'one ticket' : `${tickets.length} tickets`
  if (kind === 'unmatched') return `Drafted from ${count} that no playbook fitted.`
  const where = stepKey === null ? '' : ` at ${stepKey}`
  return `Drafted from ${count} that version ${versionNumber} of ${procedureKey} handed to a person${where} (${code}).`
}

function unnamed({ code, procedureKey, stepKey }: Gap): string {
  return procedureKey === null
    ? 'Not yet named'
    : `After ${[procedureKey, stepKey ?? code].join(' ')}`
}

function keyOf(name: string, { tickets }: Gap): string {
  const words = name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .replaceAll(/^[^A-Z]+|_+$/g, '')
  const ids = tickets.map(({ escalationId }) => escalationId)
  const word =
    words.length > 1
      ? words.slice(0, 40).replace(/_+$/, '')
      : `GAP_${sha256(canonicalJson(ids)).slice(0, 8).toUpperCase()}`
  return `${word}_PLAYBOOK`
}

function textsOf(tickets: Gap['tickets']): readonly string[] {
  return tickets
    .slice(0, readTickets)
    .flatMap(({ text }) => (text === null ? [] : text.slice(0, readCharacters).toWellFormed()))
}
