import { describe, expect, it } from 'vitest'
import { type Ending, isCourtesy, isOutcome, outcomeExamples } from '../../src/reply/phrases.ts'
import { readSentence } from '../../src/reply/sentence.ts'

const endings: readonly Ending[] = ['resolved', 'declined', 'escalated', 'cancelled']

function line(text: string): string {
  const sentence = readSentence(text, 'Refund Help 24')
  if ('strange' in sentence) return `(${sentence.strange})`
  return sentence.tokens
    .map((token) =>
      token.kind === 'word' ? token.text : token.kind === 'name' ? 'NAME' : token.mark,
    )
    .join(' ')
}

describe('isOutcome', () => {
  it('takes what each ending is described by for that ending alone', () => {
    for (const ending of endings) {
      for (const other of endings) {
        const words = line(outcomeExamples[other])
        expect([ending, other, isOutcome(words, ending)]).toEqual([ending, other, ending === other])
      }
    }
  })

  it.each([
    'Your request was not declined.',
    'We cannot decline your request.',
    'Your request is not resolved.',
    'Your request is resolved and refunded.',
    'Your refund is resolved.',
  ])('takes for no ending: %s', (text) => {
    expect(endings.filter((ending) => isOutcome(line(text), ending))).toEqual([])
  })
})

describe('isCourtesy', () => {
  const isTopic = (topic: string) => topic === 'your transaction'

  it.each([
    'Hello,',
    'Thank you for your message about your transaction and for your patience.',
    'We are sorry for the inconvenience this has caused.',
    'If you have any further questions, please reply to this message.',
    'Kind regards, your support team',
  ])('takes: %s', (text) => {
    expect(isCourtesy(line(text), isTopic)).toBe(true)
  })

  it.each([
    'Thank you for your payment.',
    'Thank you for your message about your refund.',
    'We are sorry for charging you.',
    'Please pay again.',
    'Contact us if you need your money back.',
  ])('does not take: %s', (text) => {
    expect(isCourtesy(line(text), isTopic)).toBe(false)
  })
})

describe('readSentence', () => {
  it.each([
    ['Hello, you: it’s fine.', "hello you it's fine"],
    ['We followed "Refund Help 24" here.', 'we followed NAME here'],
    ['Refund Help 24 is ours.', 'NAME is ours'],
    ['It is [[f1]], or [[f20]].', 'it is f1 or f20'],
  ])('cuts %s', (text, words) => {
    expect(line(text)).toBe(words)
  })

  it.each([
    ['It is 5.', '(digit)'],
    ['It is ５.', '(digit)'],
    ['Refund Help 245 is ours.', '(digit)'],
    ['It is [[f1]]0.', '(symbol)'],
    ['It is $[[f1]].', '(symbol)'],
    ['It is [[f1]][[f2]].', '(symbol)'],
    ['It is [[f0]].', '(symbol)'],
    ['It is schön.', '(letter)'],
    ['Это так.', '(letter)'],
    ['One. Two.', '(symbol)'],
    ['x.example', '(symbol)'],
    ['a@b', '(symbol)'],
    ['*a*', '(symbol)'],
    ['a\u200bb', '(symbol)'],
    ['a\nb', '(symbol)'],
    ['fine 🎉', '(symbol)'],
    ['{{input.x}}', '(symbol)'],
  ])('finds strange: %j', (text, kind) => {
    expect(line(text)).toBe(kind)
  })
})
