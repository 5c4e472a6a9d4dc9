import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { verifyDraft } from '../../src/reply/verify.ts'
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

describe('verifyDraft', () => {
  it('passes no reply with a planted falsehood, and most true ones: 1,000 of both', () => {
    const { lies, truths } = judgeReplies(1_000)

    expect([lies.length, truths.length]).toEqual([500, 500])
    expect(lies.filter(({ passes }) => passes)).toEqual([])
    // One in ten of the true ones is worded in a way that nobody can check: bench/replies.ts counts.
    expect(truths.filter(({ passes }) => !passes).length).toBeLessThan(75)
  })

  it('passes no falsehood, whatever the run and whatever stands around it', () => {
    fc.assert(
      fc.property(
        deskRun.chain((of) => fc.tuple(fc.constant(of), falseDraft(of))),
        ([of, draft]) => !verifyDraft(draft, groundOf(of)).ok,
      ),
      { numRuns: 2_000 },
    )
  })

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
    ['The refund state is [[f6]].'],
    ['Thank you for your message.'],
    ['We have notified you.'],
    ['There is nothing that you need to do.'],
    ['Your request is resolved?'],
    [''],
  ])('refuses a reply that does not say how it ended: %s', (text) => {
    expect(verifyDraft([sentenceOf(text, facts)], ground).ok).toBe(false)
  })

  it('takes all of the approved wording for the end, and refuses an empty reply', () => {
    const approved = ground.approved.map((text) => sentenceOf(text, facts))

    expect(verifyDraft(approved, ground).ok).toBe(true)
    expect(verifyDraft([], ground).ok).toBe(false)
    expect(verifyDraft([], { ...ground, approved: [] }).ok).toBe(false)
  })

  it('refuses what is too long', () => {
    const many = Array.from({ length: 20 }, () => outcome)

    expect(verifyDraft(many, ground).ok).toBe(true)
    expect(verifyDraft([...many, outcome], ground).ok).toBe(false)
    expect(verify(`Hello${' '.repeat(600)},`).ok).toBe(false)
  })

  it('says which sentence is wrong and why, and repeats none of it', () => {
    const { findings } = verify('Hello,', 'You get 500 USD.', 'The account was closed.')

    expect(findings).toEqual([
      'Sentence 2 has a digit outside a mark.',
      'Sentence 3 claims what close_account did not do.',
    ])
  })
})
