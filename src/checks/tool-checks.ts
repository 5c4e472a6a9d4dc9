import { didYouMean } from '../domain/nearest-name.ts'
import type { ToolStep } from '../domain/step.ts'
import type { ToolContract } from '../domain/tool.ts'
import type { DefinitionCheck } from './check.ts'
import type { Path } from './findings.ts'
import { loopsAround, type StepEntry } from './step-table.ts'
import { statusBits, statusOf, type World } from './worlds.ts'

/** Checks what a step asks of its tool besides the arguments, and gives the tool's contract. */
export function checkTool(
  check: DefinitionCheck,
  step: ToolStep,
  path: Path,
): ToolContract | undefined {
  const contract = check.findContract(step.tool)
  if (contract === undefined) {
    const used = [...check.table.values()].flatMap((one) =>
      'tool' in one.step && check.findContract(one.step.tool) ? [one.step.tool] : [],
    )
    const message = `'${step.tool}' is not among the tools of this service; use one of them, or register it.${didYouMean(step.tool, used)}`
    check.add('tool-unknown', [...path, 'tool'], message)
  }
  const isWrite = contract?.effect === 'write'
  if (isWrite && !contract.idempotent && step.retry !== undefined) {
    const message = `'${step.tool}' writes and is not idempotent, so it is never retried; remove 'retry'`
    check.add('retry-not-idempotent', [...path, 'retry'], message)
  }
  if (isWrite && step.poll !== undefined) {
    const message = `'${step.tool}' writes, and would write again in every round; poll a tool that reads`
    check.add('poll-of-write', [...path, 'poll'], message)
  }
  return contract
}

/** Whatever way the run came by, the tools that this one requires must have completed. */
export function checkToolOrder(
  check: DefinitionCheck,
  entry: StepEntry,
  contract: ToolContract,
  worlds: readonly World[],
): void {
  if (worlds.length === 0) return
  for (const required of contract.requires) {
    const calling = [...check.table.values()].filter(
      ({ step }) => 'tool' in step && step.tool === required,
    )
    const hasCompleted = (world: World): boolean =>
      calling.some(
        (one) => isSure(one, entry) && statusOf(world, one.place) === statusBits.completed,
      )
    if (worlds.every(hasCompleted)) continue
    const before = calling.filter(({ place }) => place < entry.place)
    const message =
      before.length === 0
        ? `'${contract.name}' may run only after '${required}'; put a step with that tool before it`
        : `'${contract.name}' may run only after '${required}' completed, and '${before.map(({ step }) => step.key).join("', '")}' may not have by then; run it on every way that leads here, or guard this step with its status`
    check.add('tool-order', [...entry.path, 'tool'], message)
  }
}

/**
 * A loop completes without any call when its list is empty, so it counts only for a step that is called for the items
 * of the same list.
 */
function isSure(calling: StepEntry, entry: StepEntry): boolean {
  const { step } = calling
  if (!('forEach' in step)) {
    return loopsAround(calling).every((loop) => loopsAround(entry).includes(loop))
  }
  const sameList = 'forEach' in entry.step && entry.step.forEach === step.forEach
  return sameList && step.when === undefined
}
