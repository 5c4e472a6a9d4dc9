import type { Tool } from '../domain/tool.ts'

/** How the sources of a configuration are opened. */
export interface SourceOptions {
  /** The folder that file names are relative to. */
  readonly folder: string
  /** Whether the tools are to run. Else they are only looked at, and nothing has to be there that calls need. */
  readonly isRunning: boolean
}

/** A source that is open: its tools, undefined for those that have problems, and its end. */
export interface OpenSource {
  readonly tools: readonly (Tool | undefined)[]
  readonly close: () => Promise<void>
}
