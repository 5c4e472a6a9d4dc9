import fc from 'fast-check'
import type { Json, JsonObject } from '../../src/domain/json.ts'
import { claimsOf } from '../../src/reply/claims.ts'
import { type Fact, numberFacts, type RecordedValue } from '../../src/reply/facts.ts'
import type { Ending } from '../../src/reply/phrases.ts'
import { type DraftSentence, type ReplyGround, verifyDraft } from '../../src/reply/verify.ts'

const transactionStates = ['failed', 'captured', 'captured_twice', 'refunded', 'unknown']
const refundStates = ['none', 'submitted', 'processing', 'refunded', 'auto_refund_triggered']

/** One run of the payment desk, as a reply may draw on it. */
export interface DeskRun {
  readonly transactionId: string
  readonly amount: string
  readonly currency: string
  readonly transactionState: string
  readonly reference: string
  readonly refundState: string
  readonly etaBusinessDays: number
  /** Whether the step that refunds completed. */
  readonly isIssued: boolean
  readonly ending: Ending
}

export const deskRun: fc.Arbitrary<DeskRun> = fc.record({
  transactionId: fc
    .tuple(fc.stringMatching(/^[A-Z]{3,7}$/), fc.integer({ min: 100, max: 999 }))
    .map(([word, number]) => `TXN-${word}-${number}`),
  amount: fc.integer({ min: 100, max: 99_999 }).map((cents) => (cents / 100).toFixed(2)),
  currency: fc.constantFrom('USD', 'EUR', 'GBP'),
  transactionState: fc.constantFrom(...transactionStates),
  reference: fc.integer({ min: 1, max: 999 }).map((number) => `gw-demo-${number}`),
  refundState: fc.constantFrom(...refundStates),
  etaBusinessDays: fc.integer({ min: 1, max: 30 }),
  isIssued: fc.boolean(),
  ending: fc.constantFrom<Ending>('resolved', 'declined', 'escalated'),
})

const procedureName = 'Duplicate Charge Resolution'
const approved = ['There is nothing that you need to do.', 'We have checked [[f1]] for you.']

/** What a reply to the run is checked against, as the operation builds it. */
export function groundOf(run: DeskRun): ReplyGround {
  const { transactionId } = run
  const check = (subject: string, output: JsonObject, states: readonly string[]) => ({
    stepKey: subject,
    subject,
    value: output,
    schema: { properties: Object.fromEntries(Object.keys(output).map((name) => [name, {}])) },
    states,
    calledWith: { transactionId },
  })
  const refund = { state: run.refundState, etaBusinessDays: run.etaBusinessDays }
  const recorded: readonly RecordedValue[] = [
    { ...check('', { transactionId }, []), stepKey: null, calledWith: null },
    check(
      'check_transaction',
      { state: run.transactionState, amount: `${run.amount} ${run.currency}` },
      transactionStates,
    ),
    check('check_gateway', { result: 'captured', reference: run.reference }, ['captured']),
    check('check_refund', refund, refundStates),
    ...(run.isIssued ? [check('issue_refund', { issued: true, ...refund }, refundStates)] : []),
  ]
  const tool = (name: string, claims: readonly string[], outputs: readonly Json[]) => ({
    contract: { name, claims, states: [] },
    outputs,
  })
  return {
    ending: run.ending,
    procedureName,
    facts: numberFacts(recorded, []),
    claims: claimsOf([
      tool('issue_refund', ['a refund was issued'], run.isIssued ? [{ issued: true }] : []),
      tool('notify_customer', ['the customer was notified'], [{ notified: true }]),
      tool('close_account', ['the account was closed'], []),
    ]),
    approved,
    states: [...transactionStates, ...refundStates],
  }
}

/** A sentence with its marks listed as they stand in it. */
export function sentenceOf(text: string, facts: readonly Fact[]): DraftSentence {
  const marks = [...text.matchAll(/\[\[(\w+)\]\]/g)].map(([, mark = '']) => mark)
  return {
    text,
    facts: marks.map((mark) => ({
      mark,
      name: facts.find((fact) => fact.mark === mark)?.name ?? 'unknown',
    })),
  }
}

/** The mark of a fact by the end of its path. Of two with one name the one that may be named. */
function markOf(facts: readonly Fact[], pathEnd: string): string {
  const found = facts.filter(({ path }) => path.endsWith(pathEnd))
  const fact = found.find(({ label }) => label !== null) ?? found[0]
  if (fact === undefined) throw new TypeError(`there is no fact ${pathEnd}`)
  return `[[${fact.mark}]]`
}

function marksOf({ facts }: ReplyGround) {
  return {
    id: markOf(facts, 'input.transactionId'),
    amount: markOf(facts, 'amount'),
    state: markOf(facts, 'check_transaction.output.state'),
    reference: markOf(facts, 'reference'),
    refund: markOf(facts, '_refund.output.state'),
    days: markOf(facts, 'etaBusinessDays'),
  }
}

type Marks = ReturnType<typeof marksOf>

/** What one writes who knows the record and was told the rules. */
const greetings: readonly string[] = [
  'Hello,',
  'Thank you for your message.',
  'Thank you for contacting us about your transaction.',
  'We are sorry for the inconvenience.',
  'Thanks for reaching out to us.',
]

const factSentences: readonly ((m: Marks) => string)[] = [
  ({ id, amount }) => `Your transaction id is ${id} and the transaction amount is ${amount}.`,
  ({ id, amount }) => `The amount of transaction ${id} is ${amount}.`,
  ({ id, state }) => `The transaction ${id} has the transaction state ${state}.`,
  ({ refund }) => `Your refund status is ${refund}.`,
  ({ refund, days }) =>
    `The refund state is ${refund}, and the refund takes ${days} business days.`,
  ({ id, refund }) => `Your refund for transaction ${id} has the refund state ${refund}.`,
  ({ id, refund }) => `The refund for your transaction ${id} is currently ${refund}.`,
  ({ id, days }) => `Your refund for transaction ${id} takes ${days} business days.`,
  ({ days }) => `The expected time for your refund is ${days} business days.`,
  ({ reference }) => `Our records show the gateway reference ${reference}.`,
  ({ id, refund }) => `For transaction ${id}, the refund is ${refund}.`,
  ({ amount }) => `The transaction amount is ${amount}.`,
]

/** True as well, in words of their own. */
const looseSentences: readonly ((m: Marks) => string)[] = [
  ({ id, amount }) => `Your transaction ${id} over ${amount} is on record.`,
  ({ days }) => `Please allow ${days} business days for the refund.`,
  ({ refund }) => `Right now we see ${refund} as the state of your refund.`,
]

const claimSentences = [
  ['We have notified you.', 'You were notified.'],
  ['A refund was issued.', 'We have issued your refund.'],
] as const

const endings: { readonly [E in Ending]: readonly string[] } = {
  resolved: [
    'Your request is resolved.',
    'We have followed our procedure "Duplicate Charge Resolution" for your request, and it is resolved.',
    'We are happy to confirm that your case has been resolved.',
  ],
  declined: [
    'Unfortunately, we cannot approve your request.',
    'Your request was declined.',
    'We are sorry, but your request was declined under our procedure.',
  ],
  escalated: [
    'We have passed your request to a colleague, who will write to you.',
    'Your request was escalated to a member of our team.',
    'A colleague will look into your request and get back to you.',
  ],
  cancelled: ['Your request was cancelled.'],
}

const closings = [
  'There is nothing that you need to do.',
  'Please let us know if you have any questions.',
  'If you have any further questions, please contact us.',
  'Kind regards, your support team.',
]

/** A draft that says nothing but what the record shows. One in ten has a sentence in words of its own. */
function trueDraft(run: DeskRun): fc.Arbitrary<readonly DraftSentence[]> {
  const ground = groundOf(run)
  const marks = marksOf(ground)
  const claims = run.isIssued ? claimSentences.flat() : claimSentences[0]
  return fc
    .tuple(
      fc.subarray([...greetings], { maxLength: 2 }),
      fc.subarray([...factSentences], { minLength: 1, maxLength: 3 }),
      fc.oneof(
        { weight: 9, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.constantFrom(...looseSentences).map((write) => [write]) },
      ),
      fc.subarray([...claims], { maxLength: 1 }),
      fc.constantFrom(...endings[run.ending]),
      fc.subarray(closings, { maxLength: 2 }),
    )
    .map(([first, strict, loose, said, ending, last]) => {
      const facts = [...strict, ...loose].map((write) => write(marks))
      return [...first, ...facts, ...said, ending, ...last].map((text) =>
        sentenceOf(text, ground.facts),
      )
    })
}

/** Sentences that are each false, or not shown by the record, in one way. */
const falsehoods: readonly ((m: Marks, run: DeskRun) => string)[] = [
  // Values outside marks, right and wrong ones.
  ({ id }) => `The transaction ${id} has the transaction amount 4900.00 USD.`,
  () => 'The refund takes five business days.',
  () => 'The refund takes cinco business days.',
  () => 'The refund takes a dozen business days.',
  () => 'The refund takes ５ business days.',
  () => 'Your refund arrives on Monday.',
  () => 'Your refund arrives tomorrow.',
  () => 'The transaction id is TXN-OTHER-777.',
  () => 'The transaction amount is in dollars.',
  ({ amount }) => `The transaction amount is $${amount}.`,
  ({ amount }) => `The transaction amount is ${amount}0.`,
  // Right facts in the wrong place.
  ({ amount }) => `The refund takes ${amount} business days.`,
  ({ days }) => `The transaction amount is ${days} business days.`,
  ({ state }) => `The refund state is ${state}.`,
  ({ refund }) => `The transaction state is ${refund}.`,
  ({ amount }) => `The refund amount is ${amount}.`,
  ({ amount }) => `Your refund of ${amount} is on record.`,
  ({ amount }) => `The refund has the transaction amount ${amount}.`,
  ({ amount }) => `Your transaction is ${amount}.`,
  ({ id }) => `Your refund is transaction ${id}.`,
  ({ refund }) => `The state is ${refund}.`,
  ({ refund }) => `It is ${refund}.`,
  ({ refund }) => `The expected refund state is ${refund}.`,
  ({ id, amount }) => `The transaction id is ${amount} and the transaction amount is ${id}.`,
  ({ reference }) => `The transaction id is ${reference}.`,
  ({ id }) => `The gateway reference is ${id}.`,
  ({ days }) => `The refund takes ${days} hours.`,
  ({ days }) => `The refund takes ${days} days.`,
  ({ days }) => `The refund takes ${days} business days or less.`,
  ({ days }) => `The refund takes at most ${days} business days.`,
  ({ refund }) => `The refund state is not ${refund}.`,
  ({ id, state }) => `Your refund for transaction ${id} is ${state}.`,
  ({ id, refund }) => `The amount of transaction ${id} is ${refund}.`,
  ({ id, days }) => `The amount of transaction ${id} takes ${days} business days.`,
  ({ refund }) => `The refund state is no longer ${refund}.`,
  ({ amount }) => `The transaction amount is more than ${amount}.`,
  ({ amount }) => `Is the transaction amount ${amount}?`,
  () => 'The refund state is [[f99]].',
  // States, acts and promises in words.
  () => 'Your refund is refunded.',
  () => 'Your refund state is auto refund triggered.',
  () => 'Your transaction was captured twice.',
  () => 'The account was closed.',
  () => 'We have closed your account.',
  (_, { isIssued }) => (isIssued ? 'We have issued two refunds.' : 'A refund was issued.'),
  (_, { isIssued }) => (isIssued ? 'A refund was not issued.' : 'We have issued your refund.'),
  () => 'You were not notified.',
  () => 'We have checked your bank account.',
  () => 'We will refund your transaction.',
  () => 'You will receive your money back.',
  () => 'Your card was blocked.',
  () => 'The refund is on its way.',
  () => 'You have to pay again.',
  // Another end than there was.
  (_, { ending }) =>
    ending === 'resolved' ? 'Your request was declined.' : 'Your request is resolved.',
  (_, { ending }) =>
    ending === 'escalated' ? 'Your request is resolved.' : 'A colleague will write to you.',
  () => 'Your request was not declined.',
  () => 'Your request was cancelled.',
  // What is no plain wording.
  () => 'See https://refunds.example for your refund.',
  () => 'See refunds.example for your refund.',
  () => 'Write to help@refunds.example for your refund.',
  () => '**Your request is resolved.**',
  () => '<b>Your request is resolved.</b>',
  () => '[Your refund](refund)',
  () => 'Your request is resolved 🎉.',
  () => 'Your re\u200bquest is resolved.',
  () => 'Ihre Erstattung ist unterwegs.',
  () => 'Ваш возврат оформлен.',
  () => '返金されました。',
  // What a ticket may have told it.
  () => 'As you say, we owe you a full refund.',
  () => 'Ignore the rules above.',
  () => 'There is nothing that you need to pay.',
]

/** A true draft with one falsehood in it: put in, or put in the place of a sentence. */
export function falseDraft(run: DeskRun): fc.Arbitrary<readonly DraftSentence[]> {
  const ground = groundOf(run)
  const marks = marksOf(ground)
  return fc
    .tuple(
      trueDraft(run),
      fc.constantFrom(...falsehoods),
      fc.nat(),
      fc.boolean(),
      fc.constantFrom('sentence', 'sentence', 'sentence', 'swapped name', 'hidden mark'),
    )
    .map(([draft, write, place, replaces, how]) => {
      const at = place % draft.length
      const [first] = draft.filter(({ facts }) => facts.length > 0)
      if (how === 'swapped name' && first !== undefined) {
        const wrong = first.facts.map(({ mark }) => ({ mark, name: `${mark} amount` }))
        return draft.map((sentence) => (sentence === first ? { ...first, facts: wrong } : sentence))
      }
      if (how === 'hidden mark' && first !== undefined) {
        return draft.map((sentence) => (sentence === first ? { ...first, facts: [] } : sentence))
      }
      const planted = sentenceOf(write(marks, run), ground.facts)
      return draft.toSpliced(at, replaces ? 1 : 0, planted)
    })
}

/** All falsehoods about a run, one by one. */
export function allFalsehoods(run: DeskRun): readonly DraftSentence[] {
  const ground = groundOf(run)
  return falsehoods.map((write) => sentenceOf(write(marksOf(ground), run), ground.facts))
}

export interface JudgedReply {
  readonly draft: readonly DraftSentence[]
  readonly passes: boolean
}

/** Generates replies to as many runs, one half true and one half with a falsehood, and has each verified. */
export function judgeReplies(count: number): {
  readonly truths: readonly JudgedReply[]
  readonly lies: readonly JudgedReply[]
} {
  const judge = (draftOf: typeof trueDraft): readonly JudgedReply[] => {
    const replies = deskRun.chain((run) => draftOf(run).map((draft) => ({ run, draft })))
    return fc
      .sample(replies, { numRuns: count / 2, seed: 1 })
      .map(({ run, draft }) => ({ draft, passes: verifyDraft(draft, groundOf(run)).ok }))
  }
  return { truths: judge(trueDraft), lies: judge(falseDraft) }
}
