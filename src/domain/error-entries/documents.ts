import { type FileProblem, innerPlaceText } from '../problem.ts'
import { count, define, fileProblemLines, type Problems, problemLines } from './entry.ts'

/** What comes from outside and does not have its form. */
export const documents = {
  ID_INVALID: define<{ kind: string; prefix: string; found: string }>(
    'invalid',
    (d) => `'${d.found}' is no ${d.kind} id. Expected '${d.prefix}_' and 21 characters.`,
  ),
  VALUE_INVALID: define<Problems>(
    'invalid',
    (d) => `The value has ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  REQUEST_INVALID: define<Problems & { operation: string }>(
    'invalid',
    (d) => `${d.operation} was called with ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  EXPRESSION_INVALID: define<Problems & { source: string }>(
    'invalid',
    (d) => `The expression has ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  TEMPLATE_INVALID: define<Problems>(
    'invalid',
    (d) => `The template has ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  DOCUMENT_INVALID: define<Problems & { name: string }>(
    'invalid',
    (d) => `${d.name} has ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  DEFINITION_INVALID: define<Problems>(
    'invalid',
    (d) => `The definition has ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  DEFINITION_HAS_ERRORS: define<Problems & { procedureKey: string }>(
    'invalid',
    (d) =>
      `The definition of ${d.procedureKey} cannot be simulated yet; its checks found ${count(d.problems)}:${problemLines(d.problems, innerPlaceText)}`,
  ),
  DEFINITION_KEY_DIFFERS: define<{ procedureKey: string; found: string }>(
    'invalid',
    (d) => `The definition has the key ${d.found}, and it is to be a version of ${d.procedureKey}.`,
  ),
  SCENARIOS_INVALID: define<Problems>(
    'invalid',
    (d) => `The scenarios have ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  SCHEMA_INVALID: define<Problems>(
    'invalid',
    (d) => `The JSON Schema has ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  TOOL_INVALID: define<Problems & { tool: string }>(
    'invalid',
    (d) => `The tool ${d.tool} has ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  TOOLS_INVALID: define<Problems>(
    'invalid',
    (d) => `The tools have ${count(d.problems)}:${problemLines(d.problems)}`,
  ),
  USAGE_INVALID: define<{ problem: string; nextMove: string }>(
    'invalid',
    (d) => `${d.problem} ${d.nextMove}`,
  ),
  FILE_UNREADABLE: define<{ file: string; problem: string }>(
    'invalid',
    (d) => `${d.file} cannot be read: ${d.problem}. Name a text file, or - for standard input.`,
  ),
  FILE_UNWRITABLE: define<{ file: string; problem: string }>(
    'invalid',
    (d) => `${d.file} cannot be written: ${d.problem}. Make room for it, or name another folder.`,
  ),
  FILES_INVALID: define<{ folder: string; problems: readonly FileProblem[] }>(
    'invalid',
    (d) =>
      `The files in ${d.folder} have ${count(d.problems)}, so nothing was done:${fileProblemLines(d.problems)}`,
  ),
  FILES_DIFFER: define<{ folder: string; files: readonly string[] }>(
    'conflict',
    (d) =>
      `${d.folder} has ${d.files.length === 1 ? 'a file' : `${d.files.length} files`} of another content, so nothing was written: ${d.files.join(', ')}. Look at them with --plan, or replace them with --force.`,
  ),
  EDITOR_FAILED: define<{ editor: string; problem: string }>(
    'invalid',
    (d) =>
      `The editor '${d.editor}' ${d.problem}, so nothing was changed. Set VISUAL or EDITOR to one that works, or give the text with --file.`,
  ),
}
