import type { z } from 'zod'
import { isJsonObject, type Json } from '../domain/json.ts'
import type { SaidOutput, stepOutput } from '../operations/step-output.ts'
import { answerOption } from './answer-form.ts'
import { countText, instantText, valueLine } from './value-line.ts'

type Step = z.infer<typeof stepOutput>
/** What was said, with the members that go with its kind; its instant is text. */
type ShownSaid = SaidOutput

/** A step that waits, as far as it is told to people. */
export type ShownWait = Pick<Step, 'key' | 'iteration' | 'kind' | 'input' | 'exchange' | 'answer'>

/** A step as people read and type it: `code`, in a loop `code[3]`. */
export function stepName(key: string, iteration: string): string {
  return iteration === '' ? key : `${key}[${iteration}]`
}

/** Whether somebody's word is what a step goes on with, once it waits: a tool waits as a write of a guided run. */
export function isForPeople({ kind }: Pick<ShownWait, 'kind'>): boolean {
  return kind === 'ask' || kind === 'approval' || kind === 'tool'
}

/** Whom a step asks: `the customer`, `the group refund-desk`, `the role approver`. */
export function whomText({ kind, input }: Pick<ShownWait, 'kind' | 'input'>): string {
  // The input of a write is the tool's own, whatever its members are called.
  if (kind === 'tool') return 'an agent'
  const from = textIn(input, 'from') ?? 'somebody'
  if (from === 'customer') return 'the customer'
  return from.startsWith('group:') ? `the group ${from.slice('group:'.length)}` : `the role ${from}`
}

/** Until when a step waits for a word; null without a deadline. */
export function deadlineText({ kind, input }: Pick<ShownWait, 'kind' | 'input'>): string | null {
  return kind === 'tool' ? null : instantText(textIn(input, 'deadline') ?? null)
}

/** What is asked, what is to be approved, or what a tool would be given, as one value. */
export function askedValue({ kind, input }: Pick<ShownWait, 'kind' | 'input'>): Json {
  if (!isJsonObject(input) || kind === 'tool') return input
  return (kind === 'approval' ? input.show : input.message) ?? null
}

/** The hash of what is to be approved; a yes may name it. */
function hashOfShown({ kind, input }: Pick<ShownWait, 'kind' | 'input'>): string | undefined {
  return kind === 'approval' ? textIn(input, 'showHash') : undefined
}

/** What a step waits for and what was said meanwhile, as names and texts; undefined for one that does not wait. */
export function waitDetails(step: Step): readonly (readonly [name: string, text: string])[] {
  const said = saidTexts(step).map((text) => ['said', text] as const)
  const { kind, input, status } = step
  if (kind === 'wait') {
    const until = instantText(textIn(input, 'until') ?? null)
    return until === null ? [] : [['until', until]]
  }
  if (kind === 'tool' && status === 'waiting') {
    return [['asks', `${whomText(step)}, before it is called`], ['in', valueLine(input)], ...said]
  }
  if (!isJsonObject(input) || (kind !== 'ask' && kind !== 'approval')) {
    return [...(input === null ? [] : [['in', valueLine(input)] as const]), ...said]
  }
  const hash = hashOfShown(step)
  return [
    ['asks', asksText(step)],
    [kind === 'ask' ? 'says' : 'shows', valueLine(askedValue(step))],
    ...(hash === undefined ? [] : [['hash', hash] as const]),
    ...said,
  ]
}

function asksText(step: Step): string {
  const { input } = step
  const deadline = deadlineText(step)
  const remindAt = instantText(textIn(input, 'remindAt') ?? null)
  const quorum = isJsonObject(input) && typeof input.quorum === 'number' ? input.quorum : 1
  return [
    whomText(step),
    ...(quorum > 1 ? [`${quorum} of them`] : []),
    deadline === null ? 'without a deadline' : `until ${deadline}`,
    ...(remindAt === null ? [] : [`with a reminder at ${remindAt}`]),
  ].join(', ')
}

/** What was said while a step waited, in order. */
export function saidAt({ exchange }: Pick<ShownWait, 'exchange'>): readonly ShownSaid[] {
  return exchange
}

/** The same, each with its moment and who said it. */
function saidTexts(step: Pick<ShownWait, 'exchange'>): readonly string[] {
  return saidAt(step).map((said) => `${instantText(said.at)}: ${saidText(said)}`)
}

function saidText(said: ShownSaid): string {
  switch (said.kind) {
    case 'reminded':
      return 'a reminder was due'
    case 'unfit':
      return `${by(said)} said "${said.text}", which does not fit: ${said.problems.join('; ')}`
    case 'answered':
      return `answered by ${by(said)}`
    case 'approved':
    case 'denied':
      return `${said.kind} by ${by(said)}${said.comment === undefined ? '' : `: ${said.comment}`}`
    default:
      return said satisfies never
  }
}

function by({ by: { id, kind } }: { readonly by: { id: string; kind: string } }): string {
  return kind === 'human' ? id : `${id} (${kind})`
}

/** How far a wait has come, in a few words for a list; empty while nobody has said anything. */
export function soFarText({ exchange, input }: Pick<ShownWait, 'exchange' | 'input'>): string {
  const count = (kind: string) => exchange.filter((said) => said.kind === kind).length
  const quorum = isJsonObject(input) && typeof input.quorum === 'number' ? input.quorum : 1
  const [unfit, approved] = [count('unfit'), count('approved')]
  return [
    ...(count('reminded') > 0 ? ['reminded'] : []),
    ...(unfit > 0 ? [`${countText(unfit, 'answer')} did not fit`] : []),
    ...(approved > 0 ? [`${approved} of ${quorum} approved`] : []),
  ].join(', ')
}

/** The commands with which a step that waits for a word goes on, whole, so that they can be copied. */
export function nextCommands(executionId: string, step: ShownWait): readonly string[] {
  const round = step.iteration === '' ? '' : ` --iteration ${step.iteration}`
  const place = `${executionId} ${step.key}${round}`
  if (step.kind === 'ask') {
    return [`stepwarden executions answer ${place} ${answerOption(step.answer)}`]
  }
  const hash = hashOfShown(step)
  const shown = hash === undefined ? '' : ` --shown ${hash}`
  return [
    `stepwarden executions approve ${place}${shown}`,
    `stepwarden executions deny ${place} --comment "…"`,
  ]
}

function textIn(input: Json, name: string): string | undefined {
  const value = isJsonObject(input) ? input[name] : undefined
  return typeof value === 'string' ? value : undefined
}
