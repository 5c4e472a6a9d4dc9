import { stepType } from '../domain/expression/scope-types.ts'
import { nullType, unionOf } from '../domain/expression/type.ts'
import {
  anyType,
  booleanType,
  listType,
  numberType,
  objectType,
  stringType,
  type Type,
  typeOfSchema,
} from '../domain/expression.ts'
import type { JsonSchema } from '../domain/json.ts'
import { type Step, type ToolStep, walkSteps } from '../domain/step.ts'
import type { ToolContract } from '../domain/tool.ts'
import type { FindProcedure } from './called-procedure.ts'

/** The contract of a tool that may be used now, or undefined. */
export type FindContract = (name: string) => ToolContract | undefined

const nullOr = (type: Type): Type => unionOf([type, nullType])

/** The types of outputs, as far as schemas tell; those of `compute` are filled in as they are inferred. */
export class StepTypes {
  readonly #types = new Map<string, Type>()
  #all: { readonly [key: string]: Type } | undefined
  readonly #outputs = new Map<string, Type>()
  readonly #findContract: FindContract
  readonly #findProcedure: FindProcedure

  constructor(steps: readonly Step[], findContract: FindContract, findProcedure: FindProcedure) {
    this.#findContract = findContract
    this.#findProcedure = findProcedure
    // Every key exists from the start, whatever its output will be.
    for (const step of walkSteps(steps)) this.declare(step, this.#outputOf(step))
  }

  /** Makes the output of a step, or of each of its rounds, known; `item` is what a round is for. */
  declare(step: Step, output: Type, item?: Type): void {
    this.#outputs.set(step.key, output)
    const isLoop = 'forEach' in step
    const type = isLoop ? stepType(listType(nullOr(output)), output, item) : stepType(output)
    this.#types.set(step.key, type)
    this.#all = undefined
  }

  /** Type of `steps.KEY`, for every step of the definition: the same object until another type is declared. */
  get all(): { readonly [key: string]: Type } {
    this.#all ??= Object.fromEntries(this.#types)
    return this.#all
  }

  /** What a round of the step gives: for a block in a loop, the output of the step that completed last in it. */
  roundOutputOf(step: Step): Type {
    if (!('steps' in step) || !('forEach' in step)) return this.outputOf(step)
    const inner = [...walkSteps(step.steps)].map((one) => this.outputOf(one))
    return unionOf([...inner, nullType])
  }

  outputOf(step: Step): Type {
    return this.#outputs.get(step.key) ?? anyType
  }

  toolOutput({ tool }: ToolStep): Type {
    const contract = this.#findContract(tool)
    return contract === undefined ? anyType : typeOfSchema(contract.output)
  }

  #outputOf(step: Step): Type {
    if ('tool' in step) return this.toolOutput(step)
    if ('compute' in step) {
      return objectType(
        Object.fromEntries(Object.keys(step.compute).map((name) => [name, anyType])),
      )
    }
    if ('require' in step) return objectType({ met: booleanType, unmet: nullOr(numberType) })
    if ('choose' in step) {
      const texts: Type = { kind: 'string', values: step.choose.map(({ text }) => text) }
      // Without a choice and without another way the run has ended.
      return objectType({ chosen: step.otherwise === undefined ? texts : nullOr(texts) })
    }
    if ('ask' in step) return typeOfInput(step.answer)
    if ('approval' in step) return objectType({ approvedBy: listType(stringType) })
    if ('call' in step) {
      const called = this.#findProcedure(step.call)
      const found = typeof called === 'object' ? called : { output: anyType, mayDecline: true }
      const values = found.mayDecline ? ['resolved', 'declined'] : ['resolved']
      return objectType({ outcome: { kind: 'string', values }, output: found.output })
    }
    if ('end' in step) return objectType({ text: nullOr(stringType) })
    return nullType
  }
}

/**
 * The type of an input, or of an answer. What names its fields takes and gives no others: a name that it does not declare
 * is a slip of the pen.
 */
export function typeOfInput(input: JsonSchema = { type: 'object' }): Type {
  const isClosed = input.properties !== undefined && input.additionalProperties === undefined
  return typeOfSchema(isClosed ? { ...input, additionalProperties: false } : input)
}
