import type { Definition } from '../domain/definition.ts'
import type { Reason } from '../domain/escalation.ts'
import type { ExecutionStatus, Outcome } from '../domain/execution.ts'
import type { Scope } from '../domain/expression.ts'
import { type MissingInput, missingInputMessage } from '../domain/fill-input.ts'
import { isJsonObject, type Json } from '../domain/json.ts'
import {
  compileTemplate,
  parseTemplate,
  type Reference,
  type Template,
  TemplateUnresolved,
} from '../domain/template.ts'
import { overlap, type Unsayable } from './facts.ts'
import type { Ending } from './phrases.ts'
import type { Reply, ReplyFact } from './reply.ts'

/** What is sent to a ticket that no playbook fits, unless the deployment has its own wording. */
export const defaultNoMatchText =
  'Thank you for your message. A member of our support team will read it and answer you.'

/** The customer's words. */
export const ticketText: Unsayable = {
  path: ['ticket', 'text'],
  why: 'what the ticket says is not a fact',
}

export interface ReplyRequest {
  readonly procedure: {
    readonly key: string
    readonly name: string
    readonly versionNumber: number
  }
  /** How the run ended. */
  readonly status: ExecutionStatus
  readonly outcome: Outcome | null
  readonly reason: Reason | null
  /** The definition's approved wordings. */
  readonly replies?: Definition['replies'] | undefined
  /** The record of the run at its end. */
  readonly scope: Scope
  /** Places of the record that no reply may show, besides `ticket.text`. */
  readonly unsayable: readonly Unsayable[]
  /** Used for a run that ended as `missing_input`. Default: the fields that its reason names. */
  readonly missing?: readonly MissingInput[] | undefined
}

/**
 * Composes the reply that needs no model, from the record alone: a request for what is missing; else the approved
 * wording for this end; else, and whenever that wording cannot be filled in from completed steps, a default that names
 * the procedure and how it ended, and no rule or reason. Never throws for a definition that was checked.
 *
 * @see docs/reply.md
 */
export function composeReply(request: ReplyRequest): Reply {
  const { procedure, reason } = request
  if (reason?.code === 'missing_input') {
    const text = missingInputMessage(request.missing ?? missingOf(reason.fields ?? []))
    if (text !== '') return plainReply(text)
  }
  const ending = endingOf(request.status, request.outcome)
  const filled = fillApproved(request)
  if (filled === undefined) return plainReply(defaultText(procedure.name, ending))
  if ('text' in filled) return { ...plainReply(filled.text), facts: filled.facts }
  const findings = filled.findings.map((finding) => `replies.${ending} was not used: ${finding}.`)
  return {
    ...plainReply(defaultText(procedure.name, ending)),
    verification: { ok: false, findings },
  }
}

/** The approved wording for the end of a run as it may be sent: whole, or undefined when there is none that may be. */
export function approvedReply(request: ReplyRequest): ApprovedReply | undefined {
  const filled = fillApproved(request)
  return filled !== undefined && 'text' in filled ? filled : undefined
}

/** The text of an approved wording with its facts, in the order of the text. */
export interface ApprovedReply {
  readonly text: string
  readonly facts: readonly ReplyFact[]
}

/** How a run ended for the customer. A completed run always has an outcome; without one, a person has it. */
export function endingOf(status: ExecutionStatus, outcome: Outcome | null): Ending {
  return outcome ?? (status === 'cancelled' ? 'cancelled' : 'escalated')
}

/** The reply to a ticket that no playbook fits. It promises nothing but that a person will look. */
export function noMatchReply(text: string = defaultNoMatchText): Reply {
  return plainReply(text)
}

function plainReply(text: string): Reply {
  return { text, source: 'built_in', facts: [], verification: { ok: true, findings: [] } }
}

function defaultText(name: string, ending: Ending): string {
  switch (ending) {
    case 'resolved':
      return `We have followed our procedure "${name}" for your request, and it is resolved.`
    case 'declined':
      return `We have followed our procedure "${name}" for your request, and it was declined.`
    case 'escalated':
      return `Your request comes under our procedure "${name}". It was escalated to a member of our team.`
    case 'cancelled':
      return `Your request came under our procedure "${name}". It was cancelled.`
    default:
      return ending satisfies never
  }
}

function missingOf(names: readonly string[]): readonly MissingInput[] {
  return names.map((name) => ({ name, description: '', reason: 'not_found' }))
}

/** The approved wording for this end, or why it may not be sent. */
function fillApproved({
  status,
  outcome,
  replies = {},
  scope,
  unsayable,
}: ReplyRequest): ApprovedReply | { readonly findings: readonly string[] } | undefined {
  const ending = endingOf(status, outcome)
  const wording = ending === 'cancelled' ? undefined : replies[ending]
  if (wording === undefined) return undefined
  const parsed = parseTemplate(wording)
  if ('problems' in parsed) return { findings: parsed.problems.map(({ message }) => message) }
  const text = resolve(parsed.template, scope)
  if (text instanceof TemplateUnresolved) return { findings: [text.message] }
  if (typeof text !== 'string' || text.trim() === '') return { findings: ['it gives no text'] }

  const facts: ReplyFact[] = []
  const findings: string[] = []
  for (const reference of parsed.template.reads) {
    const value = insertedValue(reference, scope)
    if (value === undefined) continue
    const [root, key] = reference.path
    facts.push({ path: reference.text, value, stepKey: root === 'steps' ? String(key) : null })
    const flaw = recordFlaw(reference, scope, unsayable)
    if (flaw !== undefined) findings.push(`{{${reference.text}}} may not be stated: ${flaw}`)
  }
  return findings.length > 0 ? { findings } : { text, facts }
}

/** The value that a reference put into the text; undefined where its fallback stands instead. */
function insertedValue(reference: Reference, scope: Scope): Json | undefined {
  const alone = `{{${reference.text}}}`
  // The space makes it part of a text, where a value must have a written form.
  const asText = resolve(compileTemplate(`${alone} `), scope)
  const value = resolve(compileTemplate(alone), scope)
  return asText instanceof TemplateUnresolved || value instanceof TemplateUnresolved
    ? undefined
    : value
}

/** Why a value must not be stated to a customer, though it is there; undefined when it may be. */
function recordFlaw(
  { path }: Reference,
  scope: Scope,
  unsayable: readonly Unsayable[],
): string | undefined {
  const known = [ticketText, ...unsayable].find((other) => overlap(path, other.path))
  if (known !== undefined) return known.why
  const [root, key, part, index] = path
  if (root !== 'steps' || typeof key !== 'string') return undefined
  const step = scope.steps[key]
  if (statusOf(step) !== 'completed') return `step ${key} did not complete`
  if (part !== 'items' || typeof index !== 'number') return undefined
  const items = isJsonObject(step) && Array.isArray(step.items) ? step.items : []
  return statusOf(items[index]) === 'completed'
    ? undefined
    : `item ${index} of step ${key} did not complete`
}

function statusOf(record: Json | undefined): Json | undefined {
  return isJsonObject(record) ? record.status : undefined
}

function resolve(template: Template, scope: Scope): Json | TemplateUnresolved {
  try {
    return template.resolve(scope)
  } catch (error) {
    // An unresolved template is an expected outcome here: the default wording takes its place.
    if (error instanceof TemplateUnresolved) return error
    throw error
  }
}
