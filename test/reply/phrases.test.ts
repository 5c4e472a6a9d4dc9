import { describe, expect, it } from 'vitest'
import {
  courtesySentences,
  type Ending,
  isCourtesy,
  isOutcome,
  lineOf,
  outcomeSentences,
} from '../../src/reply/phrases.ts'

const endings: readonly Ending[] = ['resolved', 'declined', 'escalated', 'cancelled']

describe('isOutcome', () => {
  it('takes what each ending is described by for that ending alone', () => {
    for (const ending of endings) {
      for (const other of endings) {
        for (const sentence of outcomeSentences[other]) {
          const taken = isOutcome(lineOf(sentence), ending)
          expect([ending, sentence, taken]).toEqual([ending, sentence, ending === other])
        }
      }
    }
  })

  it.each([
    'Your request was not declined.',
    'We cannot decline your request.',
    'Your request is resolved and refunded.',
    'Your request is resolved?',
    'Your refund is resolved.',
    'It is now completed.',
    'We are happy to confirm that it has been resolved.',
  ])('takes for no ending: %s', (text) => {
    expect(endings.filter((ending) => isOutcome(lineOf(text), ending))).toEqual([])
  })
})

describe('isCourtesy', () => {
  it.each([...courtesySentences, 'hello!', 'Thank  you for your message'])('takes: %s', (text) => {
    expect(isCourtesy(lineOf(text))).toBe(true)
  })

  it.each([
    'Thank you for your payment.',
    'Thank you for your message about your transaction.',
    'Thank you for telling us about your fraud.',
    'We are sorry for charging you.',
    'We are happy to help?',
    'Please pay again.',
    'Contact us if you need your money back.',
  ])('does not take: %s', (text) => {
    expect(isCourtesy(lineOf(text))).toBe(false)
  })
})

it('has no sentence that points at another one', () => {
  const all = [...courtesySentences, ...Object.values(outcomeSentences).flat()]

  expect(
    all.filter((text) => /\b(?:it|its|they|them|these|those)\b|\bthis (?!message)/i.test(text)),
  ).toEqual([])
})
