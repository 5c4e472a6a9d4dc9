import type { z } from 'zod'
import type { AppContext } from '../context.ts'
import type { Definition } from '../domain/definition.ts'
import { type Reason, reasonOf } from '../domain/escalation.ts'
import { isJsonObject, type Json, type JsonObject } from '../domain/json.ts'
import { type Condition, walkSteps } from '../domain/step.ts'
import type { Caller } from '../operations/define.ts'
import type { escalationOutput } from '../operations/escalation-output.ts'
import type { RunOutput } from '../operations/execution-output.ts'
import { operations } from '../operations/registry.ts'

/**
 * What a playbook calls confidential is kept from models (docs/language.md), and whoever asks at this door is one, whatever key it
 * holds. People see it at the other doors.
 */
const mark = '(confidential)'

type Escalation = z.infer<typeof escalationOutput>

/** Where a definition holds conditions. */
const conditionLists = ['preconditions', 'completionConditions', 'escalationRules', 'require']

/** A definition without its confidential conditions: of each, only that it is there. */
export function definitionForModel(definition: Definition): Json {
  return withoutConfidential(JSON.parse(JSON.stringify(definition)))
}

function withoutConfidential(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutConfidential)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      conditionLists.includes(name) && Array.isArray(inner)
        ? inner.map((one) => (isConfidential(one) ? { text: mark, confidential: true } : one))
        : withoutConfidential(inner),
    ]),
  )
}

function isConfidential(condition: Json): condition is JsonObject {
  return isJsonObject(condition) && condition.confidential === true
}

/** What a person may read of a condition, and a model only where it is not confidential. */
export function conditionText({ text, confidential }: Condition): string {
  return confidential === true ? mark : text
}

/** A run as a model may see it. */
export async function runForModel<R extends Pick<RunOutput, 'execution' | 'steps'>>(
  app: AppContext,
  caller: Caller,
  run: R,
): Promise<R> {
  const { execution, steps } = run
  const isTold = execution.conditions.length > 0 || execution.reason !== null
  const texts = isTold ? await listConfidentialTexts(app, caller, execution) : []
  const hide = (text: string) => texts.reduce((shown, one) => shown.replaceAll(one, mark), text)
  return {
    ...run,
    execution: {
      ...execution,
      reason: execution.reason && reasonForModel(execution.reason, hide),
      conditions: execution.conditions.map((one) => ({ ...one, text: hide(one.text) })),
    },
    steps: steps.map((step) => ({
      ...step,
      error: step.error && { ...step.error, ...messageForModel(step.error, hide) },
    })),
  }
}

/** An escalation by itself: which version its run was of is not known, so nothing particular of its reason is told. */
export function escalationForModel(escalation: Escalation): Escalation {
  const { reason } = escalation
  if (reason === null) return escalation
  const { text: _, ...rest } = reason
  return { ...escalation, reason: { ...rest, message: reasonOf(reason.code).message } }
}

/** The same beside its run, as `runForModel` has answered it. */
export function escalationWithRun(
  escalation: Escalation,
  { execution: { reason } }: Pick<RunOutput, 'execution'>,
): Escalation {
  return reason === null ? escalationForModel(escalation) : { ...escalation, reason }
}

function reasonForModel(reason: Reason, hide: (text: string) => string): Reason {
  return {
    ...reason,
    ...messageForModel(reason, hide),
    ...(reason.text !== undefined && { text: hide(reason.text) }),
  }
}

function messageForModel(
  { code, message }: { readonly code: string; readonly message: string },
  hide: (text: string) => string,
): { readonly message: string } {
  // It repeats the words of the run that was called, which may be of any version of another playbook.
  if (code === 'child_escalated') return { message: reasonOf(code).message }
  return { message: hide(message) }
}

/** By version, which never changes once a run is of it. Few are in use at once. */
const known = new WeakMap<AppContext, Map<string, readonly string[]>>()
const maxKnown = 1_000

async function listConfidentialTexts(
  app: AppContext,
  caller: Caller,
  { versionId, procedureKey, versionNumber }: RunOutput['execution'],
): Promise<readonly string[]> {
  const ofApp = known.get(app) ?? new Map<string, readonly string[]>()
  known.set(app, ofApp)
  const found = ofApp.get(versionId)
  if (found !== undefined) return found
  const { version } = await operations.getProcedure.invoke(app, caller, {
    procedureKey,
    versionNumber,
  })
  const texts = confidentialTexts(version.definition)
  if (ofApp.size >= maxKnown) ofApp.clear()
  ofApp.set(versionId, texts)
  return texts
}

function confidentialTexts(definition: Definition): readonly string[] {
  const { preconditions = [], completionConditions = [], escalationRules = [] } = definition
  const required = [...walkSteps(definition.steps)].flatMap((step) =>
    'require' in step ? step.require : [],
  )
  return (
    [...preconditions, ...completionConditions, ...escalationRules, ...required]
      .filter(({ confidential }) => confidential === true)
      .map(({ text }) => text)
      // A text that stands in another one must not break it up.
      .sort((a, b) => b.length - a.length)
  )
}
