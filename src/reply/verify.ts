import type { ApprovedReply } from './built-in.ts'
import type { Claim } from './claims.ts'
import { findFactFlaw } from './fact-sentence.ts'
import type { Fact } from './facts.ts'
import { type Ending, isCourtesy, isOutcome, lineOf } from './phrases.ts'

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
  readonly facts: readonly Fact[]
  readonly claims: readonly Claim[]
  /** The approved wording for this end, when it could be filled in whole. */
  readonly approved: ApprovedReply | undefined
}

export interface Verdict {
  /** True when every sentence may be sent. */
  readonly ok: boolean
  /** What is wrong, by sentence from 1; at most 20. Holds no word of the draft. */
  readonly findings: readonly string[]
}

/** What a model writes for the whole of the approved wording. */
export const approvedMark = '[[approved]]'

/** A draft that has more is not read at all. */
export const draftLimits = { sentences: 20, characters: 600 } as const

/**
 * Checks a draft against the record: each sentence must be one of five kinds, and a sentence that is none of them is
 * refused, whatever it may mean.
 *
 * - the approved wording, as one block, once, with nothing but courtesy before it;
 * - how the run ended, word for word;
 * - courtesy, which states nothing, word for word;
 * - a claim that the run bears out, word for word;
 * - facts, in the one form that `findFactFlaw` knows.
 *
 * Numbers, dates, links, states, promises and other languages need no rule of their own: they are none of the five. The
 * whole must say how the run ended, or hold the approved wording.
 */
export function verifyDraft(draft: readonly DraftSentence[], ground: ReplyGround): Verdict {
  if (draft.length > draftLimits.sentences) {
    const findings = [`The reply has more than ${draftLimits.sentences} sentences.`]
    return { ok: false, findings }
  }
  const judged = draft.map((sentence) => judge(sentence, ground))
  const findings = judged.flatMap((found, index) =>
    typeof found === 'string' ? [] : [`Sentence ${index + 1} ${found.flaw}.`],
  )
  // Wording that begins with "it" would speak of what stands before it.
  const place = judged.lastIndexOf('approved')
  if (judged.slice(0, Math.max(place, 0)).some((kind) => kind !== 'courtesy')) {
    findings.push('The approved wording stands once, and has nothing but courtesy before it.')
  } else if (place < 0 && !judged.includes('outcome')) {
    findings.push('The reply does not say how it ended.')
  }
  return { ok: findings.length === 0, findings: findings.slice(0, draftLimits.sentences) }
}

type Judgement = 'approved' | 'outcome' | 'courtesy' | 'claim' | 'facts' | { readonly flaw: string }

function judge({ text, facts }: DraftSentence, ground: ReplyGround): Judgement {
  if (text.length > draftLimits.characters) {
    return { flaw: `has more than ${draftLimits.characters} characters` }
  }
  if (text.trim() === approvedMark) {
    return ground.approved === undefined
      ? { flaw: 'asks for wording that there is not' }
      : 'approved'
  }
  const strange = strangeness(text)
  if (strange !== undefined) return { flaw: strange }
  const flaw = findMarkFlaw(text, facts, ground.facts)
  if (flaw !== undefined) return { flaw }
  if (text.includes('[[')) {
    const found = findFactFlaw(text, ground.facts)
    return found === undefined ? 'facts' : { flaw: found }
  }
  const line = lineOf(text)
  if (isCourtesy(line)) return 'courtesy'
  if (!/[.!]\s*$/.test(text)) return { flaw: 'does not end like a statement' }
  if (isOutcome(line, ground.ending)) return 'outcome'
  const claim = ground.claims.find(({ sentence }) => lineOf(sentence) === line)
  if (claim?.isSupported) return 'claim'
  return {
    flaw:
      claim === undefined
        ? 'says something that is neither courtesy, nor a fact with its mark, nor a claim, nor how the run ended'
        : `claims what the record does not show ${claim.tool} to have done`,
  }
}

/** What no sentence has outside its marks. The closed forms have none of it anyway; this says why to whom it concerns. */
function strangeness(text: string): string | undefined {
  const rest = text.replace(/\[\[[^[\]]*\]\]/g, '').replaceAll('’', "'")
  if (/\p{N}/u.test(rest)) return 'has a digit outside a mark'
  if (/[^\P{L}A-Za-z]/u.test(rest)) {
    return 'has letters of another language than English, which cannot be checked'
  }
  return /^[A-Za-z\s.,:!?'"-]*$/.test(rest)
    ? undefined
    : 'has a sign that is no plain punctuation, such as a currency sign, markup or a link'
}

/** Whether the marks of a sentence are those that the model says they are. */
function findMarkFlaw(
  text: string,
  said: DraftSentence['facts'],
  facts: readonly Fact[],
): string | undefined {
  const marks = [...text.matchAll(/\[\[([^[\]]*)\]\]/g)].map(([, mark = '']) => mark)
  const isListed =
    marks.length === said.length && said.every(({ mark }, index) => mark === marks[index])
  if (!isListed) return 'does not list its marks as they stand in it'
  for (const { mark, name } of said) {
    const fact = facts.find((known) => known.mark === mark)
    if (fact === undefined) return 'has a mark of which there is no fact'
    if (fact.name !== name) return `takes ${mark} for another fact than it is`
  }
  return undefined
}
