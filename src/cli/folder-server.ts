import type { FolderServer } from '../context.ts'
import { isErrorCode, restoreError, ServiceError } from '../domain/errors.ts'
import { keyHeader } from '../http/local-door.ts'
import type { Operation } from '../operations/define.ts'

/**
 * Has an operation carried out by the process that serves the data folder: one process at a time can have it open.
 *
 * @throws ServiceError what the operation throws; `SERVER_SILENT` when that process does not answer.
 */
export async function callFolderServer<I, O>(
  { address, token }: FolderServer,
  operation: Operation<I, O>,
  input: unknown,
  key: string | undefined,
): Promise<O> {
  const response = await ask(`${address}/local/${operation.name}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...(key !== undefined && { [keyHeader]: key }),
    },
    body: JSON.stringify(input),
  })
  const answer: unknown = await response.json()
  if (response.ok) return operation.output.parse(answer)
  const { code, details } = Object(answer)
  throw isErrorCode(code) ? restoreError(code, details) : new ServiceError('INTERNAL', {})
}

async function ask(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    throw new ServiceError('SERVER_SILENT', { address: new URL(url).origin }, { cause: error })
  }
}
