import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { approvedMark, verifyDraft } from '../../src/reply/verify.ts'
import {
  allFalsehoods,
  type DeskRun,
  deskRun,
  falseDraft,
  groundOf,
  judgeReplies,
  sentenceOf,
} from '../support/replies.ts'

const run: DeskRun = {
  transactionId: 'TXN-DEMO-001',
  amount: '49.00',
  currency: 'USD',
  transactionState: 'failed',
  reference: 'gw-demo-1',
  refundState: 'processing',
  etaBusinessDays: 5,
  isIssued: true,
  ending: 'resolved',
}
const ground = groundOf(run)
const { facts } = ground
const outcome = sentenceOf('Your request is resolved.', facts)

function verify(...texts: readonly string[]) {
  return verifyDraft([...texts.map((text) => sentenceOf(text, facts)), outcome], ground)
}

/** A thousand replies take about two seconds alone, and longer beside other tests. */
const timeout = 30_000

describe('verifyDraft', () => {
  it(
    'passes no reply with a planted falsehood, and all true ones in the forms that a model is told',
    () => {
      const { lies, truths, looseTruths } = judgeReplies(1_000)

      expect([lies.length, truths.length]).toEqual([500, 500])
      expect(lies.filter(({ passes }) => passes)).toEqual([])
      expect(truths.filter(({ passes }) => !passes)).toEqual([])
      // What is worded freely cannot be checked: bench/replies.ts counts.
      expect(looseTruths.filter(({ passes }) => passes)).toEqual([])
    },
    timeout,
  )

  it(
    'passes no falsehood, whatever the run and whatever stands around it',
    () => {
      fc.assert(
        fc.property(
          deskRun.chain((of) => fc.tuple(fc.constant(of), falseDraft(of))),
          ([of, draft]) => !verifyDraft(draft, groundOf(of)).ok,
        ),
        { numRuns: 1_000 },
      )
    },
    timeout,
  )

  it.each(allFalsehoods(run).map(({ text }) => [text]))('refuses: %s', (text) => {
    expect(verify(text).ok).toBe(false)
  })

  it.each(
    allFalsehoods({ ...run, isIssued: false, ending: 'declined' }).map((s) => [s.text, s] as const),
  )('refuses on a declined run: %s', (_, sentence) => {
    const declined = groundOf({ ...run, isIssued: false, ending: 'declined' })
    const end = sentenceOf('Your request was declined.', facts)

    expect(verifyDraft([end], declined).ok).toBe(true)
    expect(verifyDraft([sentence, end], declined).ok).toBe(false)
  })

  it.each([
    ['Your transaction id is [[f1]].'],
    ['Thank you for your message.'],
    ['You were notified.'],
    ['Your request is resolved?'],
    ['Your request is resolved'],
    ['Your request is resolved,'],
    [''],
  ])('refuses a reply that does not say how it ended: %s', (text) => {
    expect(verifyDraft([sentenceOf(text, facts)], ground).ok).toBe(false)
  })

  it('takes the approved wording as one block, and refuses an empty reply', () => {
    const block = sentenceOf(approvedMark, facts)
    const hello = sentenceOf('Hello,', facts)
    const { approved: _none, ...bare } = ground

    expect(verifyDraft([hello, block], ground).ok).toBe(true)
    expect(verifyDraft([block, outcome], ground).ok).toBe(true)
    expect(verifyDraft([], ground).ok).toBe(false)
    expect(verifyDraft([block, outcome], { ...bare, approved: undefined }).ok).toBe(false)
  })

  it.each([
    ['after a fact', ['Your transaction id is [[f1]].', approvedMark]],
    ['after a claim', ['You were notified.', approvedMark]],
    ['after the outcome', ['Your request is resolved.', approvedMark]],
    ['twice', [approvedMark, approvedMark]],
    ['as part of a sentence', [`${approvedMark} Hello.`]],
  ])('refuses the approved wording %s: its words could mean something else there', (_, texts) => {
    expect(verify(...texts).ok).toBe(false)
  })

  it('refuses what is too long', () => {
    const many = Array.from({ length: 20 }, () => outcome)

    expect(verifyDraft(many, ground).ok).toBe(true)
    expect(verifyDraft([...many, outcome], ground).ok).toBe(false)
    expect(verify(`Hello${' '.repeat(600)},`).ok).toBe(false)
  })

  it('counts before it judges, and stores few and short findings of a huge draft', () => {
    const huge = Array.from({ length: 100_000 }, () => sentenceOf('You get 500 USD.', facts))
    const wrong = huge.slice(0, 20).map((sentence) => ({
      ...sentence,
      facts: Array.from({ length: 10_000 }, () => ({ mark: 'f1', name: 'x'.repeat(100) })),
    }))
    const began = performance.now()

    const verdicts = [verifyDraft(huge, ground), verifyDraft(wrong, ground)]

    expect(performance.now() - began).toBeLessThan(1_000)
    expect(verdicts.map(({ findings }) => findings.length)).toEqual([1, 20])
    for (const { ok, findings } of verdicts) {
      expect(ok).toBe(false)
      expect(Math.max(...findings.map(({ length }) => length))).toBeLessThan(200)
    }
  })

  it('says which sentence is wrong and why, and repeats none of it', () => {
    const { findings } = verify('Hello,', 'You get 500 USD.', 'The account was closed.')

    expect(findings).toEqual([
      'Sentence 2 has a digit outside a mark.',
      'Sentence 3 claims what the record does not show close_account to have done.',
    ])
  })
})
