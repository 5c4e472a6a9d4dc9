import type { Outcome } from '../domain/execution.ts'

/** How a run ended, as a customer is told. */
export type Ending = Outcome | 'escalated' | 'cancelled'

/**
 * What a reply may say beside facts, claims and the approved wording, word for word. Courtesy speaks of no thing, and an
 * outcome of nothing but the request. No sentence points at another one: "it is completed" would say of a refund what
 * is true of the request.
 */
export const courtesySentences: readonly string[] = [
  'Hello,',
  'Hello.',
  'Dear customer,',
  'Thank you for your message.',
  'Thank you for your patience.',
  'Thank you for your understanding.',
  'Thank you for contacting us.',
  'Thank you for writing to us.',
  'We are sorry for the inconvenience.',
  'We are sorry for the trouble.',
  'We apologize for the inconvenience.',
  'Please let us know if you have any questions.',
  'Please let us know if you have any further questions.',
  'If you have any questions, please reply to this message.',
  'If you have any further questions, please reply to this message.',
  'If you have any questions, please contact us.',
  'If you have any further questions, please contact us.',
  'We are happy to help.',
  'Kind regards',
  'Kind regards, your support team.',
  'Best regards',
  'Best regards, your support team.',
]

/** How each end may be said; the first is the plainest. */
export const outcomeSentences: { readonly [E in Ending]: readonly string[] } = {
  resolved: [
    'Your request is resolved.',
    'Your request has been resolved.',
    'We have resolved your request.',
    'We are happy to confirm that your request has been resolved.',
  ],
  declined: [
    'Unfortunately, we cannot approve your request.',
    'We are sorry, but we cannot approve your request.',
    'Your request was declined.',
    'Unfortunately, your request was declined.',
    'We are sorry, but your request was declined.',
  ],
  escalated: [
    'We have passed your request to a colleague, who will write to you.',
    'Your request was passed to a colleague, who will write to you.',
    'Your request was escalated to a member of our team.',
    'A colleague will look into your request and write to you.',
    'A colleague will write to you.',
  ],
  cancelled: ['Your request was cancelled.'],
}

const courtesyLines = new Set(courtesySentences.map(lineOf))

/** Whether a line says how the run ended, and nothing else. */
export function isOutcome(line: string, ending: Ending): boolean {
  return outcomeSentences[ending].some((sentence) => lineOf(sentence) === line)
}

/** Whether a line is courtesy, which states nothing. */
export function isCourtesy(line: string): boolean {
  return courtesyLines.has(line)
}

/**
 * What two writings of one sentence have in common: neither case, nor white space, nor commas and the sign at the end
 * make it another one. A question keeps its sign.
 */
export function lineOf(sentence: string): string {
  return plainSpace(sentence)
    .replaceAll('’', "'")
    .toLowerCase()
    .replace(/[.!,]$/, '')
    .replaceAll(', ', ' ')
}

/** White space is no matter of wording. */
export function plainSpace(text: string): string {
  return text.trim().replace(/\s+/g, ' ')
}
