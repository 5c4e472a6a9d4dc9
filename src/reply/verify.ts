import { type Claim, saysClaim, touchesClaim } from './claims.ts'
import { plainWord } from './fact-label.ts'
import { findFactFlaw, isThing } from './fact-sentence.ts'
import type { Fact } from './facts.ts'
import { type Ending, isCourtesy, isOutcome } from './phrases.ts'
import { readSentence, type Sentence } from './sentence.ts'

/** One sentence as a model wrote it. */
export interface DraftSentence {
  /** With `[[f1]]` where the value of fact f1 is to stand. */
  readonly text: string
  /** Its marks in order, each with the name of the fact that the model means. */
  readonly facts: readonly { readonly mark: string; readonly name: string }[]
}

/** What a reply may draw on. */
export interface ReplyGround {
  readonly ending: Ending
  readonly procedureName: string
  readonly facts: readonly Fact[]
  readonly claims: readonly Claim[]
  /** Approved sentences for this ending, with marks where their references stood. */
  readonly approved: readonly string[]
  /** Declared states of all tools of the procedure. */
  readonly states: readonly string[]
}

export interface Verdict {
  /** True when every sentence may be sent. */
  readonly ok: boolean
  /** What is wrong, by sentence from 1. Holds no word of the draft. */
  readonly findings: readonly string[]
}

const limits = { sentences: 20, characters: 600 } as const

/**
 * Checks a draft against the record: each sentence must be one of five kinds, and a sentence that is none of them is
 * refused, whatever it may mean.
 *
 * - an approved sentence, word for word;
 * - how the run ended, in words that this service knows;
 * - courtesy, which states nothing;
 * - a claim of a tool that completed;
 * - facts: each mark after the words that name it, joined by words that say nothing.
 *
 * Numbers, dates, links, states, promises and other languages need no rule of their own: they are none of the five. The
 * whole must say how the run ended, or hold all of the approved wording.
 */
export function verifyDraft(draft: readonly DraftSentence[], ground: ReplyGround): Verdict {
  const findings: string[] = []
  const kinds = draft.map((sentence) => judge(sentence, ground))
  for (const [index, { flaw }] of kinds.entries()) {
    if (flaw !== undefined) findings.push(`Sentence ${index + 1} ${flaw}.`)
  }
  const said = new Set(draft.map(({ text }) => plainSpace(text)))
  const isApproved = ground.approved.length > 0 && ground.approved.every((line) => said.has(line))
  const saysOutcome = isApproved || kinds.some(({ saysOutcome }) => saysOutcome === true)
  if (draft.length > limits.sentences) {
    findings.push(`The reply has more than ${limits.sentences} sentences.`)
  }
  if (findings.length === 0 && !saysOutcome) findings.push('The reply does not say how it ended.')
  return { ok: findings.length === 0, findings }
}

/** What is wrong with a sentence; nothing when it may be sent. */
interface Judgement {
  readonly flaw?: string | undefined
  readonly saysOutcome?: boolean
}

function judge({ text, facts }: DraftSentence, ground: ReplyGround): Judgement {
  if (text.length > limits.characters) {
    return { flaw: `has more than ${limits.characters} characters` }
  }
  const flaw = findMarkFlaw(text, facts, ground.facts)
  if (flaw !== undefined) return { flaw }
  if (ground.approved.includes(plainSpace(text))) return {}
  const sentence = readSentence(text, ground.procedureName)
  if ('strange' in sentence) return { flaw: strangeTexts[sentence.strange] }
  return sentence.tokens.some(({ kind }) => kind === 'mark')
    ? { flaw: findFactFlaw(sentence, ground.facts, ground.states) }
    : judgeWords(sentence, ground)
}

const strangeTexts = {
  digit: 'has a digit outside a mark',
  letter: 'has letters of another language than English, which cannot be checked',
  symbol: 'has a sign that is no plain punctuation, such as a currency sign, markup or a link',
} as const

/** Whether the marks of a sentence are those that the model says they are. */
function findMarkFlaw(
  text: string,
  said: DraftSentence['facts'],
  facts: readonly Fact[],
): string | undefined {
  const marks = [...text.matchAll(/\[\[([^[\]]*)\]\]/g)].map(([, mark = '']) => mark)
  if (marks.join() !== said.map(({ mark }) => mark).join()) {
    return 'does not list its marks as they stand in it'
  }
  for (const { mark, name } of said) {
    const fact = facts.find((known) => known.mark === mark)
    if (fact === undefined) return 'has a mark of which there is no fact'
    if (fact.name !== name) return `takes ${mark} for another fact than it is`
  }
  return undefined
}

function judgeWords({ tokens, end }: Sentence, ground: ReplyGround): Judgement {
  const words = tokens.map((token) => (token.kind === 'word' ? token.text : 'NAME'))
  const line = words.join(' ')
  const isStatement = end === '.' || end === '!'
  if (isStatement && isOutcome(line, ground.ending)) return { saysOutcome: true }
  if (isCourtesy(line, (topic) => isTopic(topic, ground.facts))) return {}
  const said = ground.claims.filter((claim) => saysClaim(words, claim))
  if (isStatement && said.some(({ isSupported }) => isSupported)) return {}
  return { flaw: explain(words, ground) }
}

/** What a message may have been about: "your transaction", or the procedure by name. */
function isTopic(topic: string, facts: readonly Fact[]): boolean {
  const [article = '', ...words] = topic.split(' ')
  if (words.length === 0) return /^(?:this|it|NAME)$/.test(article)
  if (!/^(?:your|the|this|a)$/.test(article)) return false
  if (/^(?:request|case|ticket|issue|NAME)$/.test(words.join(' '))) return true
  return facts.some(({ label }) =>
    words.every((word) => isThing(word) && label?.required.includes(plainWord(word))),
  )
}

/** Why words without a mark are refused, as far as that can be told. */
function explain(words: readonly string[], { claims, states }: ReplyGround): string {
  const unsupported = claims.find((claim) => !claim.isSupported && touchesClaim(words, claim))
  if (unsupported !== undefined) return `claims what ${unsupported.tool} did not do`
  if (words.some((word) => numberWords.has(word))) return 'has a number in words'
  const line = ` ${words.join(' ')} `
  if (states.some((state) => line.includes(` ${state.toLowerCase().replace(/[_-]+/g, ' ')} `))) {
    return 'names a state outside a mark'
  }
  return 'says something that is neither courtesy, nor a fact with its mark, nor a claim, nor how the run ended'
}

const numberWords = new Set(
  (
    'two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen ' +
    'nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen half twice ' +
    'double triple'
  ).split(' '),
)

/** White space is no matter of wording. */
function plainSpace(text: string): string {
  return text.trim().replace(/\s+/g, ' ')
}
