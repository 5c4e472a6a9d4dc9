import type { AppContext } from '../../src/context.ts'
import { keyOf, readProcedures, readQueries, sets } from './cases.ts'

/** Texts of a set, and what each is about. */
interface Told {
  readonly text: string
  readonly about: string
}

/**
 * The same in almost the same words, as an agent writes that repeats itself: what a wording of a message changes, and not
 * its matter.
 */
const rewordings: Readonly<Record<string, (text: string) => string>> = {
  again: (text) => `${text} again`,
  polite: (text) => `Hello, ${text.charAt(0).toLowerCase()}${text.slice(1)} Thank you!`,
  shouted: (text) => `${text.toUpperCase()}!!!`,
  numbered: (text) => `${text} (case 4711)`,
  reported: (text) => `The customer says: ${text}`,
  'without its last word': (text) => text.replace(/\s+\S+\s*$/, ''),
  misspelled: (text) => text.replaceAll(/\b(\w{3})(\w)(\w)(\w*)\b/g, '$1$3$2$4'),
}

const steps = Array.from({ length: 9 }, (_, n) => (60 + 5 * n) / 100)
const heldApart = 2_000

/**
 * From which similarity on two situations are taken to be one: the shares of pairs that are, about different things, about
 * the same thing in other messages, and of messages with their own rewordings.
 */
export async function repeatReport(app: AppContext, folder: string): Promise<object> {
  const { offline } = app.embedders
  const counts = new Map<string, number[]>()
  const add = (kind: string, similarity: number) => {
    const own = counts.get(kind) ?? [0, ...steps.map(() => 0)]
    own[0] = (own[0] ?? 0) + 1
    for (const [at, step] of steps.entries()) {
      if (similarity >= step) own[at + 1] = (own[at + 1] ?? 0) + 1
    }
    counts.set(kind, own)
  }
  for (const set of sets) {
    const told = textsOf(folder, set).slice(0, heldApart)
    const vectors = await embed(
      offline,
      told.map(({ text }) => text),
    )
    for (const [at, one] of told.entries()) {
      for (let other = at + 1; other < told.length; other += 1) {
        const kind = one.about === told[other]?.about ? 'of the same thing' : 'of different things'
        add(kind, cosine(vectors[at], vectors[other]))
      }
    }
    for (const [name, reword] of Object.entries(rewordings)) {
      const reworded = await embed(
        offline,
        told.map(({ text }) => reword(text) || text),
      )
      for (const at of told.keys()) add(`reworded: ${name}`, cosine(vectors[at], reworded[at]))
    }
  }
  return Object.fromEntries(
    [...counts].map(([kind, [pairs = 0, ...beyond]]) => [
      kind,
      {
        pairs,
        ...Object.fromEntries(
          beyond.map((n, at) => [`≥ ${steps[at]?.toFixed(2)}`, share(n, pairs)]),
        ),
      },
    ]),
  )
}

/** Messages that have an answer, and the texts of the catalogue; each text once. */
function textsOf(folder: string, set: string): readonly Told[] {
  const told = new Map<string, string>()
  for (const { query, expected } of readQueries(folder, set)) {
    if (expected !== null) told.set(query, keyOf(expected))
  }
  for (const { key, description, issue_patterns: patterns } of readProcedures(folder, set)) {
    for (const text of [description, ...patterns]) told.set(text, keyOf(key))
  }
  return [...told].map(([text, about]) => ({ text, about }))
}

async function embed(
  { embed: ask }: AppContext['embedders']['offline'],
  texts: readonly string[],
): Promise<readonly Float32Array[]> {
  const vectors: Float32Array[] = []
  for (let from = 0; from < texts.length; from += 64) {
    vectors.push(...(await ask(texts.slice(from, from + 64))))
  }
  return vectors
}

function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (a === undefined || b === undefined) return 0
  let sum = 0
  // There are millions of pairs: an iterator would take minutes.
  for (let at = 0; at < a.length; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0)
  return sum
}

function share(part: number, whole: number): number {
  return Math.round((part / whole) * 1e6) / 1e6
}
