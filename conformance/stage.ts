import type { Json, JsonObject } from '../src/domain/json.ts'
import { ToolRefused } from '../src/index.ts'

/** One call of a tool, as the tool itself counted it. */
export interface Call {
  readonly tool: string
  readonly args: JsonObject
  readonly refused: boolean
}

/** What answers the tools of a case. Throws `ToolRefused` for what they will not do. */
export type World = (tool: string, args: JsonObject) => Json

/** Where the tools of all playbooks act: one case at a time, whose calls are counted. */
export class Stage {
  #world: World = () => {
    throw new Error('no case is on the stage')
  }
  #calls: Call[] = []
  #fault: string | undefined

  set(world: World): void {
    this.#world = world
    this.#calls = []
    this.#fault = undefined
  }

  /** What went wrong in the world itself: a tool that neither answered nor refused. */
  get fault(): string | undefined {
    return this.#fault
  }

  get calls(): readonly Call[] {
    return this.#calls
  }

  call(tool: string, args: JsonObject): Json {
    try {
      const answer = this.#world(tool, args)
      this.#calls.push({ tool, args, refused: false })
      return answer
    } catch (error) {
      const refused = error instanceof ToolRefused
      this.#calls.push({ tool, args, refused })
      if (!refused) this.#fault ??= `${tool}: ${error instanceof Error ? error.message : error}`
      throw error
    }
  }
}
