import { innerPlaceText } from '../problem.ts'
import { count, define, leftOutText, type Problems, problemLines } from './entry.ts'

/** Procedures, their versions, and search. */
export const procedures = {
  PROCEDURE_EXISTS: define<{ procedureKey: string }>(
    'conflict',
    (d) => `There is a procedure ${d.procedureKey} already. Make a new version of it instead.`,
  ),
  PROCEDURE_NOT_FOUND: define<{ procedureKey: string; nearest?: string }>(
    'not_found',
    (d) =>
      `There is no procedure ${d.procedureKey}.${d.nearest === undefined ? '' : ` Did you mean ${d.nearest}?`} List them to see which there are.`,
  ),
  PROCEDURE_NOT_ACTIVE: define<{ procedureKey: string }>(
    'conflict',
    (d) => `${d.procedureKey} has no active version, so it cannot run. Activate one first.`,
  ),
  VERSION_NOT_FOUND: define<{
    procedureKey: string
    versionNumber: number | null
    known: readonly number[]
  }>(
    'not_found',
    (d) =>
      `${d.procedureKey} has no version ${d.versionNumber ?? ''}. It has ${d.known.length === 0 ? 'none' : d.known.join(', ')}.`,
  ),
  VERSION_UNKNOWN: define<{ versionId: string }>(
    'not_found',
    (d) =>
      `There is no version with the id ${d.versionId}. 'stepwarden procedures show KEY --json' has the ids of those that there are.`,
  ),
  VERSION_NEVER_SERVED: define<{ procedureKey: string; versionNumber: number }>(
    'conflict',
    (d) =>
      `Version ${d.versionNumber} of ${d.procedureKey} is a draft and has never served, and may still change. Record runs of a version that is active, or was.`,
  ),
  VERSION_NOT_DRAFT: define<{ status: string; wanted: string }>(
    'conflict',
    (d) =>
      `Expected a draft to ${d.wanted}, found a version that is ${d.status}. Create a new version as a copy of it and work on that.`,
  ),
  VERSION_NOT_ACTIVE: define<{ status: string; wanted: string }>(
    'conflict',
    (d) =>
      `Expected the active version to ${d.wanted}, found one that is ${d.status}. Look up which version is active.`,
  ),
  VERSION_NOT_DEPRECATED: define<{ procedureKey: string; versionNumber: number; status: string }>(
    'conflict',
    (d) =>
      `Expected a version that served before to roll back to, found version ${d.versionNumber} of ${d.procedureKey}, which is ${d.status === 'draft' ? 'a draft: activate it' : 'the one that serves now'}. Nothing was changed.`,
  ),
  VERSION_NOT_ACTIVE_THEN: define<{ procedureKey: string; at: string }>(
    'not_found',
    (d) =>
      `No version of ${d.procedureKey} served at ${d.at}. Show the procedure to see when each did.`,
  ),
  DRAFT_STALE: define<{
    procedureKey: string
    versionNumber: number
    seen: number
    current: number | null
  }>(
    'stale',
    (d) =>
      `Version ${d.versionNumber} of ${d.procedureKey} is at revision ${d.current ?? 'unknown'} now, and you saw ${d.seen}. Nothing was changed: look at the new text and edit that.`,
  ),
  ACTIVATION_STALE: define<{
    procedureKey: string
    seen: number | null
    current: number | null
  }>(
    'conflict',
    (d) =>
      `${d.procedureKey} is served by ${d.current === null ? 'no version' : `version ${d.current}`} now, and you saw ${d.seen === null ? 'none' : `version ${d.seen}`}. Nothing was changed: look again and decide anew.`,
  ),
  VERSION_HAS_ERRORS: define<Problems & { procedureKey: string; versionNumber: number }>(
    'conflict',
    (d) =>
      `Version ${d.versionNumber} of ${d.procedureKey} cannot go live; its checks found ${count(d.problems)}:${problemLines(d.problems, innerPlaceText)}`,
  ),
  VERSION_TOOL_CHANGED: define<{
    procedureKey: string
    versionNumber: number
    tools: readonly string[]
  }>(
    'conflict',
    (d) =>
      `Version ${d.versionNumber} of ${d.procedureKey} was saved with other contracts of ${d.tools.join(', ')}. Save the draft again to take the tools as they are now.`,
  ),
  VERSION_NOT_EMBEDDED: define<{
    procedureKey: string
    versionNumber: number
    models: readonly string[]
  }>(
    'conflict',
    (d) =>
      `Version ${d.versionNumber} of ${d.procedureKey} has no vector of ${d.models.join(', ')}, so search would not find it. Save the draft again, where that model can be asked.`,
  ),
  TOOL_NOT_FOUND: define<{ tool: string; nearest?: string }>(
    'not_found',
    (d) =>
      `There is no tool ${d.tool} here, and no version has used one.${d.nearest === undefined ? '' : ` Did you mean ${d.nearest}?`} List them to see which there are.`,
  ),
  BACKTEST_NOT_FOUND: define<{ backtestId: string }>(
    'not_found',
    (d) =>
      `There is no backtest ${d.backtestId}. List those of the version to see which there are.`,
  ),
  BACKTEST_ENDED: define<{ backtestId: string; state: string }>(
    'conflict',
    (d) => `Expected a backtest that is running, and ${d.backtestId} is ${d.state}. Begin another.`,
  ),
  EMBEDDING_MODEL_DIFFERS: define<{ current: string; offline: string }>(
    'unavailable',
    (d) =>
      `Search cannot ask the embedding model in use, ${d.current}, and not every active version has a vector of ${d.offline}, which it would fall back on. Set up ${d.current} here, or run 'stepwarden embeddings switch ${d.offline}'.`,
    { retryable: true },
  ),
  EMBEDDING_MODEL_UNKNOWN: define<{ model: string; known: readonly string[] }>(
    'not_found',
    (d) =>
      `This process has no embedding model ${d.model}. It has ${d.known.join(', ')}; STEPWARDEN_EMBEDDING_MODEL and OPENAI_API_KEY add one.`,
  ),
  EMBEDDING_MODEL_UNMEASURED: define<{ model: string }>(
    'conflict',
    (d) =>
      `The embedding model ${d.model} was never measured here, so search would select nothing by it. Nothing was changed: run 'stepwarden embeddings calibrate ${d.model}' first, or switch all the same with --unmeasured ('unmeasured: true').`,
  ),
  EMBEDDING_MODEL_CHANGED: define<{ model: string }>(
    'conflict',
    (d) =>
      `A switch to the embedding model ${d.model} began while the version was being saved. Nothing was changed: save it again.`,
    { retryable: true },
  ),
  EMBEDDER_UNAVAILABLE: define<{ model: string; problem: string; nextMove?: string }>(
    'unavailable',
    (d) => `The embedding model ${d.model} ${d.problem}. ${d.nextMove ?? 'Try again later.'}`,
    { retryable: true },
  ),
  EXAMPLES_TOO_FEW: define<{
    match: number
    noMatch: number
    neededMatch: number
    neededNoMatch: number
    leftOut: number
  }>(
    'conflict',
    (d) =>
      `The active versions have ${d.match} examples that match and ${d.noMatch} that do not; ${d.neededMatch} and ${d.neededNoMatch} are needed to measure a model.${leftOutText(d.leftOut)} Add more to 'examples' of their definitions.`,
  ),
}
