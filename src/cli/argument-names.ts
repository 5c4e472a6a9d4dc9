import { isServiceError, ServiceError } from '../domain/errors.ts'
import type { Command } from './command.ts'

/** Fields of operations that the command line calls otherwise, with what it calls them, one command or the other. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  issue: ['TEXT'],
  'ticket.text': ['TEXT', '--ticket'],
  'ticket.language': ['--language'],
  resolution: ['TEXT'],
  procedureKey: ['KEY', '--procedure'],
  versionNumber: ['NUMBER'],
  fromVersionNumber: ['--from'],
  toVersionNumber: ['NUMBER'],
  seenActive: ['--seen'],
  executionId: ['ID', '--execution'],
  showHash: ['--shown'],
  escalationId: ['ID'],
  scheduleId: ['ID'],
  tool: ['NAME'],
  reviewBy: ['TIME'],
  customerId: ['--customer'],
  ticketId: ['--ticket'],
  requesterId: ['--by'],
  expiresInDays: ['--expires'],
  principalId: ['ID', '--principal'],
  keyId: ['KEY_ID'],
  proposalId: ['ID'],
  topK: ['--top'],
  durationMs: ['--duration'],
}

/**
 * Does what a command does; when an operation refuses its input, the error names the command, its arguments and its
 * options: who typed them has never heard of the fields that they become.
 */
export async function namingArguments<T>(command: Command, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!isServiceError(error, 'REQUEST_INVALID')) throw error
    const problems = error.details.problems.map((problem) => ({
      ...problem,
      path: nameOf(command, problem.path),
    }))
    const details = { operation: `stepwarden ${command.path}`, problems }
    throw new ServiceError('REQUEST_INVALID', details, { cause: error })
  }
}

/** `ticket.text` as the command calls it: `TEXT`. What it has no name for stays as it is. */
function nameOf({ arguments: parameters = [], options = [] }: Command, path: string): string {
  const known = [
    ...parameters.map(({ usage }) => usage.replaceAll(/[<>[\].]/g, '')),
    ...options.map(({ usage }) => usage.replace(/ .*$/, '')),
  ]
  // One of a list is what was given for the option as a whole.
  const [field = ''] = path.split(/[.[]/)
  const option = `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  const names = [
    ...(otherNames[path] ?? []),
    ...(otherNames[field] ?? []),
    field.toUpperCase(),
    option,
  ]
  return names.find((name) => known.includes(name)) ?? path
}
