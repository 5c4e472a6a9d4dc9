import { ServiceError } from '../domain/errors.ts'
import { type Problem, pathText } from '../domain/problem.ts'
import type { Tool } from '../domain/tool.ts'
import { expectation } from '../domain/zod-problems.ts'
import type { OpenSource, SourceOptions } from './open-source.ts'
import { parseSource } from './source-shape.ts'

/** The tools of all sources of a configuration, and what they hold open. */
export interface OpenSources {
  readonly tools: readonly Tool[]
  readonly close: () => Promise<void>
}

/**
 * Reads the sources of a configuration, and opens them all at once: documents are read, servers asked what they offer.
 * `file` is what messages call the configuration; `locate` gives problems their place in its text.
 *
 * @throws ServiceError `SOURCES_INVALID` with every problem of all sources, `SOURCE_UNAVAILABLE`; nothing stays open then.
 * @see docs/sources.md
 */
export async function openSources(
  declared: unknown,
  file: string,
  options: SourceOptions,
  locate: (problems: readonly Problem[]) => readonly Problem[] = (problems) => problems,
): Promise<OpenSources> {
  const problems: Problem[] = []
  if (!Array.isArray(declared)) {
    problems.push({ path: 'sources', message: expectation(declared, 'a list of sources') })
    throw new ServiceError('SOURCES_INVALID', { file, problems: locate(problems) })
  }
  const opened = await Promise.allSettled(
    declared.map((source, n) => openSource(source, ['sources', n], options, problems)),
  )
  const sources = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const close = async () => {
    await Promise.all(sources.map((source) => source.close()))
  }
  problems.push(...doubleProblems(declared))
  const failed = opened.find((each) => each.status === 'rejected')
  if (problems.length > 0 || failed !== undefined) {
    await close()
    if (problems.length === 0) throw failed?.reason
    throw new ServiceError('SOURCES_INVALID', { file, problems: locate(problems) })
  }
  const tools = sources.flatMap((source) => source.tools).filter((tool) => tool !== undefined)
  return { tools, close }
}

async function openSource(
  value: unknown,
  path: readonly (string | number)[],
  options: SourceOptions,
  problems: Problem[],
): Promise<OpenSource> {
  const parsed = parseSource(value, path)
  if ('problems' in parsed) {
    problems.push(...parsed.problems)
    return { tools: [], close: async () => {} }
  }
  // Loaded only here: whoever has no such source does not pay for the packages.
  if ('mcp' in parsed) {
    const { openMcpSource } = await import('./mcp/mcp-source.ts')
    return openMcpSource(parsed.mcp, path, options, problems)
  }
  const { openOpenapiSource } = await import('./openapi/openapi-source.ts')
  return openOpenapiSource(parsed.openapi, path, options, problems)
}

/** Tools of one name: which of them runs would depend on their order. */
function doubleProblems(declared: readonly unknown[]): readonly Problem[] {
  const seen = new Map<string, string>()
  const problems: Problem[] = []
  for (const [n, source] of declared.entries()) {
    const { operations } = Object(source)
    for (const [m, operation] of Array.isArray(operations) ? operations.entries() : []) {
      const { tool } = Object(operation)
      if (typeof tool !== 'string') continue
      const path = pathText(['sources', n, 'operations', m, 'tool'])
      const first = seen.get(tool)
      if (first === undefined) seen.set(tool, path)
      else
        problems.push({ path, message: `'${tool}' stands at ${first}, too; give it another name` })
    }
  }
  return problems
}
