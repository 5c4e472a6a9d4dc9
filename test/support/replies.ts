import fc from 'fast-check'
import type { JsonObject, JsonSchema } from '../../src/domain/json.ts'
import { claimsOf } from '../../src/reply/claims.ts'
import { type Fact, numberFacts, type RecordedValue } from '../../src/reply/facts.ts'
import { courtesySentences, type Ending, outcomeSentences } from '../../src/reply/phrases.ts'
import type { ToolCall } from '../../src/reply/tool-call.ts'
import {
  approvedMark,
  type DraftSentence,
  type ReplyGround,
  verifyDraft,
} from '../../src/reply/verify.ts'

const transactionStates = ['failed', 'captured', 'captured_twice', 'refunded', 'unknown']
const refundStates = ['none', 'submitted', 'processing', 'refunded', 'auto_refund_triggered']

const allStates = [...transactionStates, ...refundStates]

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

const approved = {
  text: 'Your parcel was lost on the way. It will be replaced. There is nothing that you need to do.',
  facts: [],
}

const grounds = new WeakMap<DeskRun, ReplyGround>()

/** What a reply to the run is checked against, as the operation builds it. */
export function groundOf(run: DeskRun): ReplyGround {
  const known = grounds.get(run)
  const ground = known ?? buildGround(run)
  grounds.set(run, ground)
  return ground
}

function buildGround(run: DeskRun): ReplyGround {
  const id = { transactionId: run.transactionId }
  const refund = { state: run.refundState, etaBusinessDays: run.etaBusinessDays }
  const refundSchema = { state: { enum: refundStates }, etaBusinessDays: { type: 'integer' } }
  const input = {
    value: { ...id, otherTransactionId: 'TXN-OTHER-777' },
    schema: { properties: { transactionId: {}, otherTransactionId: {} } },
    call: null,
  }
  const recorded: readonly RecordedValue[] = [
    input,
    checked(
      'check_transaction',
      {
        state: run.transactionState,
        amount: `${run.amount} ${run.currency}`,
        amountValue: Number(run.amount),
        refundedAmount: '0.00 USD',
        notRefundedAmount: '100.00 USD',
        note: 'We owe you 500 USD',
      },
      { state: { enum: transactionStates } },
      id,
    ),
    checked(
      'check_gateway',
      { result: 'captured', reference: run.reference },
      { result: { enum: ['captured'] } },
      id,
    ),
    checked(run.isIssued ? 'issue_refund' : 'check_refund', refund, refundSchema, id),
    checked('get_charge', { amount: '500.00 USD' }, {}, { transactionId: 'TXN-OTHER-777' }),
  ]
  return {
    ending: run.ending,
    facts: numberFacts(recorded, []),
    claims: claimsOf(
      [
        { name: 'issue_refund', claims: ['a refund was issued'] },
        { name: 'notify_customer', claims: ['the customer was notified'] },
        { name: 'close_account', claims: ['the account was closed'] },
        { name: 'pay_merchant', claims: ['the merchant was paid'] },
      ],
      [
        ...(run.isIssued ? [done('issue_refund', id, { issued: true, ...refund })] : []),
        done('pay_merchant', { merchant: 'M-1' }, { paid: true }),
        done('notify_customer', { message: 'Your refund is on its way.' }, { notified: true }),
      ],
    ),
    approved,
  }
}

function checked(
  tool: string,
  value: JsonObject,
  properties: JsonSchema,
  input: JsonObject,
): RecordedValue {
  const others = Object.fromEntries(Object.keys(value).map((name) => [name, {}]))
  const effect = tool === 'issue_refund' ? 'write' : 'read'
  return {
    value,
    schema: { properties: { ...others, ...properties } },
    call: { stepKey: tool, tool, effect, input, states: allStates, isOneOfSeveral: false },
  }
}

function done(tool: string, input: JsonObject, output: JsonObject): ToolCall {
  return { tool, effect: 'write', input, output, result: 'done' }
}

/** A sentence with its marks listed as they stand in it. */
export function sentenceOf(text: string, facts: readonly Fact[]): DraftSentence {
  const marks = [...text.matchAll(/\[\[(f\d+)\]\]/g)].map(([, mark = '']) => mark)
  return {
    text,
    facts: marks.map((mark) => ({
      mark,
      name: facts.find((fact) => fact.mark === mark)?.name ?? 'unknown',
    })),
  }
}

function markOf(facts: readonly Fact[], name: string): string {
  const fact = facts.find((known) => known.name === name)
  if (fact === undefined) throw new TypeError(`there is no fact ${name}`)
  return `[[${fact.mark}]]`
}

function marksOf({ facts }: ReplyGround) {
  const days = markOf(facts, 'refund eta in business days')
  const isOne = facts.some(({ mark, value }) => days === `[[${mark}]]` && value === 1)
  return {
    id: markOf(facts, 'transaction id'),
    otherId: markOf(facts, 'other transaction id'),
    amount: markOf(facts, 'transaction amount'),
    value: markOf(facts, 'transaction amount value'),
    refunded: markOf(facts, 'transaction refunded amount'),
    state: markOf(facts, 'transaction state'),
    reference: markOf(facts, 'gateway reference'),
    refund: markOf(facts, 'refund state'),
    days,
    eta: `${days} business ${isOne ? 'day' : 'days'}`,
    charge: markOf(facts, 'charge amount'),
  }
}

type Marks = ReturnType<typeof marksOf>

/** True sentences in the forms that the instructions name. The run is about two ids, so each value names its own. */
const factSentences: readonly ((m: Marks) => string)[] = [
  ({ id }) => `Your transaction id is ${id}.`,
  ({ id, amount }) => `The transaction amount for your transaction ${id} is ${amount}.`,
  ({ id, amount, state }) =>
    `The transaction amount of your transaction ${id} is ${amount} and the transaction state is ${state}.`,
  ({ id, refund }) => `Your refund state for the transaction ${id} is ${refund}.`,
  ({ id, eta, refund }) =>
    `The refund eta for your transaction ${id} is ${eta} and the refund state is ${refund}.`,
  ({ id, reference }) => `The gateway reference for your transaction ${id} is ${reference}.`,
  ({ otherId, charge }) => `The charge amount for your other transaction ${otherId} is ${charge}.`,
]

/** True as well, in words of their own. */
const looseSentences: readonly ((m: Marks) => string)[] = [
  ({ id, amount }) => `Your transaction ${id} over ${amount} is on record.`,
  ({ days }) => `Please allow ${days} business days for the refund.`,
  ({ refund }) => `Right now we see ${refund} as the state of your refund.`,
  ({ id, refund }) => `The refund for your transaction ${id} is ${refund}.`,
  ({ id, amount }) => `Your transaction id is ${id} and the transaction amount is ${amount}.`,
]

const noClaims = ['You were notified.', 'The merchant was paid.']

/** A draft that says nothing but what the record shows; a loose one has a sentence in words of its own. */
function trueDraft(run: DeskRun, isLoose = false): fc.Arbitrary<readonly DraftSentence[]> {
  const ground = groundOf(run)
  const marks = marksOf(ground)
  // An output with the state `none` does not say that a refund was issued, whatever else it says.
  const claims =
    run.isIssued && run.refundState !== 'none' ? [...noClaims, 'A refund was issued.'] : noClaims
  return fc
    .tuple(
      fc.subarray([...courtesySentences], { maxLength: 2 }),
      fc.subarray([approvedMark]),
      fc.subarray([...factSentences], { minLength: 1, maxLength: 3 }),
      fc.subarray([...looseSentences], isLoose ? { minLength: 1, maxLength: 1 } : { maxLength: 0 }),
      fc.subarray(claims, { maxLength: 2 }),
      fc.constantFrom(...outcomeSentences[run.ending]),
      fc.subarray([...courtesySentences], { maxLength: 2 }),
    )
    .map(([first, block, strict, loose, said, ending, last]) => {
      const shown = [...strict, ...loose].map((write) => write(marks))
      return [...first, ...block, ...shown, ...said, ending, ...last].map((text) =>
        sentenceOf(text, ground.facts),
      )
    })
}

const looseDraft = (run: DeskRun) => trueDraft(run, true)

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
  // What points at another thing, or says something by a word of its own.
  ({ id }) => `Your refund for transaction ${id} is in.`,
  ({ id }) => `Your refund for transaction ${id} is here.`,
  ({ value }) => `Your refund of the transaction amount value ${value} is on our records.`,
  () => 'It is now completed.',
  () => 'We are happy to confirm that it is now completed.',
  () => 'This has been resolved.',
  () => 'Your refund has been here for your records.',
  ({ id, refund }) => `The refund state for your transaction ${id} is now ${refund}.`,
  ({ id, refund }) => `The refund state for your transaction ${id} is ${refund} here.`,
  ({ id, refund }) => `The current refund state for your transaction ${id} is ${refund}.`,
  ({ id, refund }) => `Your refund for transaction ${id} is ${refund}.`,
  () => 'Thank you for telling us about your fraud.',
  () => 'Thank you for your message about your refund.',
  // The value of another transaction, of another call, or of nobody says which.
  ({ otherId, refund }) => `The refund state for your other transaction ${otherId} is ${refund}.`,
  ({ otherId, refund }) => `The refund state for your transaction ${otherId} is ${refund}.`,
  ({ id, charge }) => `The charge amount for your transaction ${id} is ${charge}.`,
  ({ charge }) => `The charge amount is ${charge}.`,
  ({ refund }) => `The refund state is ${refund}.`,
  ({ value, refund }) => `The refund state for your transaction ${value} is ${refund}.`,
  ({ id, refund, charge }) =>
    `The refund state for your transaction ${id} is ${refund} and the amount is ${charge}.`,
  ({ id, refund, charge }) =>
    `The refund state for your transaction ${id} is ${refund} and the charge amount is ${charge}.`,
  ({ id, refund, days }) =>
    `The refund eta for your transaction ${id} is ${days} business days, ${refund}.`,
  ({ id, refunded }) => `The transaction amount for your transaction ${id} is ${refunded}.`,
  ({ id, refunded }) => `The refund amount for your transaction ${id} is ${refunded}.`,
  ({ id, amount }) => `The refunded amount for your transaction ${id} is ${amount}.`,
  // A claim turned round, and pieces of the approved wording.
  () => 'Your merchant has paid.',
  () => 'You have paid.',
  () => 'You have notified us.',
  () => 'The merchant was not paid.',
  () => 'The customer was notified twice.',
  () => 'It will be replaced.',
  () => 'Your parcel was lost on the way.',
  () => 'There is nothing that you need to do.',
  () => `${approvedMark} It is completed.`,
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
  () => 'Your request is resolved,',
  ({ id }) => `Your transaction id is ${id}`,
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

/**
 * Generates replies to as many runs and has each verified: one half with a falsehood, and one half true ones in the forms
 * that a model is told; and as many true ones besides with a sentence in words of its own.
 */
export function judgeReplies(count: number): {
  readonly truths: readonly JudgedReply[]
  readonly looseTruths: readonly JudgedReply[]
  readonly lies: readonly JudgedReply[]
} {
  const judge = (
    draftOf: (run: DeskRun) => fc.Arbitrary<readonly DraftSentence[]>,
  ): readonly JudgedReply[] => {
    const replies = deskRun.chain((run) => draftOf(run).map((draft) => ({ run, draft })))
    return fc
      .sample(replies, { numRuns: count / 2, seed: 1 })
      .map(({ run, draft }) => ({ draft, passes: verifyDraft(draft, groundOf(run)).ok }))
  }
  return {
    truths: judge((run) => trueDraft(run)),
    looseTruths: judge(looseDraft),
    lies: judge(falseDraft),
  }
}
