import type { StepStatus } from '../execution.ts'
import { failureKinds, readableCodes } from '../failure.ts'
import type { Root } from './scope.ts'
import {
  anyType,
  isNullable,
  listType,
  nullType,
  numberType,
  objectType,
  optional,
  stringType,
  type Type,
  timestampType,
  unionOf,
} from './type.ts'

/** The types of what an expression may read. */
export interface ScopeTypes {
  readonly input: Type
  readonly policy: Type
  /** By step key; see `stepType`. What is given is not changed afterwards. */
  readonly steps: { readonly [key: string]: Type }
  /** Inside a `forEach`; `index` goes with it. */
  readonly item?: Type
  /** In `expect` and `until`. */
  readonly output?: Type
}

const stepStatuses: readonly StepStatus[] = [
  'pending',
  'running',
  'waiting',
  'completed',
  'failed',
  'skipped',
  'expired',
  'denied',
]

const statusType: Type = { kind: 'string', values: stepStatuses }

const errorType: Type = objectType({
  code: { kind: 'string', values: readableCodes },
  kind: { kind: 'string', values: failureKinds },
  message: stringType,
})

/**
 * The type of `steps.KEY` for a step with an output of this type. That a step may not have completed is no matter of
 * types: `Read.guards` tells where an expression has made sure of it.
 *
 * With `forEach`, `round` is the type of the output of a round that completed, and `item` that of the item it was for.
 */
export function stepType(output: Type, round?: Type, item: Type = anyType): Type {
  const items = round === undefined ? {} : { items: listType(roundType(item, round)) }
  return objectType({
    status: statusType,
    attempts: numberType,
    output,
    error: optional(errorType),
    ...items,
  })
}

/** By the type of an item of `items`, that of its output once it has completed. */
const completedOutputs = new WeakMap<Type, Type>()

function roundType(item: Type, output: Type): Type {
  const given = optional(unionOf([output, nullType]))
  const type = objectType({ item, status: statusType, output: given })
  completedOutputs.set(type, output)
  return type
}

/** Whether a type is that of the items of a loop, and such an item has an output whenever its status is `completed`. */
export function hasOutputWhenCompleted(type: Type): boolean {
  const output = completedOutputs.get(type)
  return output !== undefined && !isNullable(output)
}

const ticketType: Type = objectType({
  text: stringType,
  id: optional(stringType),
  requester: optional(stringType),
  channel: optional(stringType),
  language: optional(stringType),
  createdAt: optional(stringType),
  tags: optional(listType(stringType)),
})

const executionType: Type = objectType({ id: stringType, startedAt: stringType })

/** Every read of a step asks for the type of all of them. */
const allSteps = new WeakMap<ScopeTypes['steps'], Type>()

function typeOfSteps(steps: ScopeTypes['steps']): Type {
  const known = allSteps.get(steps) ?? objectType(steps)
  allSteps.set(steps, known)
  return known
}

/** The type of a root; `undefined` where it does not stand. */
export function typeOfRoot(root: Root, types: ScopeTypes): Type | undefined {
  switch (root) {
    case 'input':
    case 'policy':
    case 'item':
    case 'output':
      return types[root]
    case 'steps':
      return typeOfSteps(types.steps)
    case 'ticket':
      return ticketType
    case 'execution':
      return executionType
    case 'now':
      return timestampType
    case 'index':
      return types.item === undefined ? undefined : numberType
  }
}
