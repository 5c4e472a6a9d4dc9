import type { ToolAnnotations } from '@modelcontextprotocol/sdk/types.js'
import type { AppContext } from '../context.ts'
import type { Caller, Operation } from '../operations/define.ts'
import { type ObjectSchema, objectSchemaOf } from './tool-schema.ts'

/** What an agent is answered: the whole for its program, a few lines for the model, and the playbooks that it is about. */
export interface ToolAnswer {
  readonly output: Readonly<Record<string, unknown>>
  readonly text: string
  readonly procedureKeys: readonly string[]
}

/** One operation as a tool of the protocol. */
export interface AgentTool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly operation: Pick<Operation, 'name' | 'roles' | 'administrative' | 'errors'>
  readonly annotations: ToolAnnotations
  readonly schemas: () => { readonly input: ObjectSchema; readonly output: ObjectSchema }
  readonly call: (app: AppContext, caller: Caller, input: unknown) => Promise<ToolAnswer>
}

/**
 * Makes a tool of an operation, under its name in snake_case.
 *
 * @throws TypeError for an operation that has no place among an agent's tools: one that is administrative, or is not for
 *   agents.
 */
export function agentTool<I, O extends object>({
  operation,
  forModel,
  tell,
  procedureKeys = () => [],
  ...declared
}: {
  readonly operation: Operation<I, O>
  readonly title: string
  readonly description: string
  readonly annotations: ToolAnnotations
  /** The answer without what is kept from models; default: as it is. */
  readonly forModel?: (app: AppContext, caller: Caller, output: O) => Promise<O>
  readonly tell: (output: O, caller: Caller) => string
  readonly procedureKeys?: (output: O) => readonly string[]
}): AgentTool {
  const { name, roles, administrative } = operation
  if (administrative || !roles.includes('agent')) {
    throw new TypeError(`'${name}' is nothing that agents may do`)
  }
  let schemas: ReturnType<AgentTool['schemas']> | undefined
  return {
    ...declared,
    name: toolNameOf(name),
    operation,
    schemas() {
      schemas ??= {
        input: objectSchemaOf(operation.input, 'input'),
        output: objectSchemaOf(operation.output, 'output'),
      }
      return schemas
    },
    async call(app, caller, input) {
      const answered = await operation.invoke(app, caller, input)
      const output = forModel === undefined ? answered : await forModel(app, caller, answered)
      return {
        output: Object.fromEntries(Object.entries(output)),
        text: tell(output, caller),
        procedureKeys: procedureKeys(output),
      }
    },
  }
}

/** `startExecution` becomes `start_execution`. */
export function toolNameOf(operation: string): string {
  return operation.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
