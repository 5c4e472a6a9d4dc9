import { nullType } from '../domain/expression/type.ts'
import { objectType, type Type, typeOfSchema } from '../domain/expression.ts'
import type {
  BlockStep,
  ChooseStep,
  ComputeStep,
  EndStep,
  RequireStep,
  ToolStep,
  WaitStep,
} from '../domain/step.ts'
import { checkCall } from './call-checks.ts'
import type { Place } from './check.ts'
import { checkChoices, checkMissingChoice } from './choice-checks.ts'
import { checkProse, momentType } from './condition-checks.ts'
import { checkApproval, checkAsk } from './person-checks.ts'
import { checkReplyText } from './reply-checks.ts'
import { innerLists, isInside, type StepEntry } from './step-table.ts'
import { falseToken, nullToken, tokenOf, trueToken } from './tokens.ts'
import { checkTool, checkToolOrder } from './tool-checks.ts'
import type { Walk } from './walk.ts'
import { statusBits, type World, withStatus, withTokens } from './worlds.ts'

const { completed, failed, expired, denied, running } = statusBits

/** Checks one step, or one round of it, in the worlds that run it, and gives the worlds that go on after it. */
export function walkKind(
  walk: Walk,
  entry: StepEntry,
  worlds: readonly World[],
  place: Place,
): readonly World[] {
  const { check } = walk
  const { step, path } = entry
  if ('tool' in step) return walkTool(walk, entry, step, worlds, place)
  if ('compute' in step) return walkCompute(walk, entry, step, worlds, place)
  if ('require' in step) return walkRequire(walk, entry, step, worlds, place)
  if ('choose' in step) return walkChoose(walk, entry, step, worlds, place)
  if ('steps' in step) return walkBlock(walk, entry, step, worlds, place)
  if ('ask' in step) {
    check.template(step.message, [...path, 'message'], worlds, place)
    checkAsk(check, step, path)
    return [
      ...walk.ended(entry, worlds, completed),
      ...(step.onDeadline === 'continue' ? walk.ended(entry, worlds, expired) : []),
    ]
  }
  if ('approval' in step) {
    check.template(step.show, [...path, 'show'], worlds, place)
    checkApproval(check, entry, step)
    return [
      ...walk.ended(entry, worlds, completed),
      ...(step.onDeadline === 'continue' ? walk.ended(entry, worlds, expired) : []),
      ...(step.onDenied === 'continue' ? walk.ended(entry, worlds, denied) : []),
    ]
  }
  if ('call' in step) {
    const expected = checkCall(check, step, path)
    check.template(step.with ?? {}, [...path, 'with'], worlds, place, { expected })
    return walk.ended(entry, worlds, completed)
  }
  if ('wait' in step) return walkWait(walk, entry, step, worlds, place)
  return walkEnd(walk, entry, step, worlds, place)
}

function walkTool(
  walk: Walk,
  entry: StepEntry,
  step: ToolStep,
  worlds: readonly World[],
  place: Place,
): readonly World[] {
  const { check } = walk
  const { path } = entry
  const contract = checkTool(check, step, path)
  const expected = contract === undefined ? undefined : typeOfSchema(contract.input)
  check.template(step.with ?? {}, [...path, 'with'], worlds, place, { expected })
  if (contract !== undefined) checkToolOrder(check, entry, contract, worlds)
  const own = { ...place, output: check.types.toolOutput(step), own: step.key }
  let exhausted: readonly World[] = []
  let done: readonly World[] = worlds.map((world) => withStatus(world, entry.place, completed))
  if (step.poll !== undefined) {
    const { until, otherwise } = step.poll
    const at = [...path, 'poll', 'until']
    if (check.parsed(until, at)?.reads.output === false) {
      const message = "no call changes this: it does not read 'output', what the call gave; read it"
      check.add('loop-until', at, message)
    }
    const { yes, no } = check.condition(until, at, done, own)
    if (yes.length === 0 && done.length > 0) neverEnds(walk, at)
    done = yes
    // A loop that has used up its rounds has failed, and may be passed over.
    if (otherwise === 'continue') exhausted = walk.ended(entry, no, failed)
  }
  if (step.expect !== undefined) {
    done = walk.holding(step.expect, [...path, 'expect'], done, own).yes
  }
  const after = walk.ended(entry, done, completed)
  // A failure that ends the run declined is one that the rules are tested at as well.
  const failing = step.onError === undefined ? [] : walk.ended(entry, worlds, failed)
  return [...after, ...exhausted, ...(step.onError === 'continue' ? failing : [])]
}

function walkCompute(
  walk: Walk,
  entry: StepEntry,
  step: ComputeStep,
  worlds: readonly World[],
  place: Place,
): readonly World[] {
  const { check } = walk
  let known = worlds
  const types: [string, Type][] = []
  for (const [name, source] of Object.entries(step.compute)) {
    const path = [...entry.path, 'compute', name]
    const type = check.value(source, path, worlds, place)
    types.push([name, type])
    const key = `steps.${step.key}.output.${name}`
    const expression = check.parsed(source, path)
    if (type.kind !== 'boolean' || expression === undefined) continue
    if (!check.liveness.isAsked(key, entry.place)) continue
    const { yes, no } = check.split(expression, known)
    known = check.trim([
      ...yes.map((world) => withTokens(world, key, [trueToken])),
      ...no.map((world) => withTokens(world, key, [falseToken])),
    ])
  }
  check.types.declare(step, objectType(Object.fromEntries(types)))
  return walk.ended(entry, known, completed)
}

function walkRequire(
  walk: Walk,
  entry: StepEntry,
  step: RequireStep,
  worlds: readonly World[],
  place: Place,
): readonly World[] {
  const { check } = walk
  const key = `steps.${step.key}.output.met`
  let met = worlds
  let unmet: readonly World[] = []
  for (const [index, { text, when, say }] of step.require.entries()) {
    const path = [...entry.path, 'require', index]
    if (when === undefined) checkProse(check, path, text)
    else {
      const { yes, no } = walk.holding(when, [...path, 'when'], met, place)
      unmet = check.trim([...unmet, ...no])
      met = yes
    }
    if (say !== undefined) checkReplyText(check, say, [...path, 'say'], worlds, place)
  }
  const failing = walk.ended(
    entry,
    unmet.map((world) => withTokens(world, key, [falseToken])),
    completed,
  )
  for (const list of innerLists(step, entry.path)) walk.list(list, failing, place)
  return walk.ended(
    entry,
    met.map((world) => withTokens(world, key, [trueToken])),
    completed,
  )
}

function walkChoose(
  walk: Walk,
  entry: StepEntry,
  step: ChooseStep,
  worlds: readonly World[],
  place: Place,
): readonly World[] {
  const { check } = walk
  const { path } = entry
  const chosen = `steps.${step.key}.output.chosen`
  checkChoices(check, step, path)
  const after: World[] = []
  let left = worlds
  for (const [index, { text, when, steps }] of step.choose.entries()) {
    check.now = entry.place
    const at = [...path, 'choose', index]
    const { yes, no } = check.condition(when, [...at, 'when'], left, place)
    if (yes.length === 0 && worlds.length > 0) {
      const message = `'${text}' is never chosen: the choices before it, or what comes before them, leave nothing for it; correct its 'when' or remove it`
      check.add('unreachable-choice', [...at, 'when'], message)
    }
    left = no
    const taken = walk.ended(
      entry,
      yes.map((world) => withTokens(world, chosen, [tokenOf(text)])),
      completed,
    )
    after.push(...walk.list({ steps, path: [...at, 'steps'] }, taken, place))
  }
  if (step.otherwise === undefined) checkMissingChoice(check, step, path, worlds)
  check.now = entry.place
  const others = walk.ended(
    entry,
    left.map((world) => withTokens(world, chosen, [nullToken])),
    completed,
  )
  if (typeof step.otherwise === 'object') {
    const list = { steps: step.otherwise, path: [...path, 'otherwise'] }
    return [...after, ...walk.list(list, others, place)]
  }
  return step.otherwise === 'continue' ? [...after, ...others] : after
}

function walkBlock(
  walk: Walk,
  entry: StepEntry,
  step: BlockStep,
  worlds: readonly World[],
  place: Place,
): readonly World[] {
  const { check } = walk
  const list = { steps: step.steps, path: [...entry.path, 'steps'] }
  const inside =
    step.repeat === undefined
      ? worlds.map((world) => withStatus(world, entry.place, running))
      : walk.newRound(entry, worlds)
  const walked = walk.list(list, inside, place)
  check.now = entry.last
  if (step.repeat === undefined) return walk.ended(entry, walked, completed)
  const { until, otherwise } = step.repeat
  const path = [...entry.path, 'repeat', 'until']
  const reads = check.parsed(until, path)?.reads
  const readsRound =
    reads === undefined ||
    reads.now ||
    [...reads.steps].some((key) => {
      const read = check.table.get(key)
      return read === undefined || isInside(read, entry)
    })
  if (!readsRound) {
    const message = `no round changes this: it reads none of the steps inside '${step.key}'; read what a round finds out`
    check.add('loop-until', path, message)
  }
  const { yes, no } = check.condition(until, path, walked, {
    ...place,
    before: entry.last + 1,
    output: nullType,
    own: step.key,
  })
  if (yes.length === 0 && walked.length > 0 && readsRound) neverEnds(walk, path)
  return [
    ...walk.ended(entry, yes, completed),
    ...(otherwise === 'continue' ? walk.ended(entry, no, failed) : []),
  ]
}

function neverEnds(walk: Walk, path: readonly (string | number)[]): void {
  const message = 'this can never hold, so the loop always runs until its bound; correct it'
  walk.check.add('never-holds', path, message)
}

function walkWait(
  walk: Walk,
  entry: StepEntry,
  step: WaitStep,
  worlds: readonly World[],
  place: Place,
): readonly World[] {
  if ('until' in step.wait) {
    const path = [...entry.path, 'wait', 'until']
    walk.check.value(step.wait.until, path, worlds, place, momentType)
  }
  return walk.ended(entry, worlds, completed)
}

function walkEnd(
  walk: Walk,
  entry: StepEntry,
  step: EndStep,
  worlds: readonly World[],
  place: Place,
): readonly World[] {
  if (step.text !== undefined) {
    walk.check.template(step.text, [...entry.path, 'text'], worlds, place)
  }
  const ended = walk.ended(entry, worlds, completed)
  if (step.end === 'resolved') walk.resolve(ended)
  return []
}
