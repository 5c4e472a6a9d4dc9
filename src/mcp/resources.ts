import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
  ResourceLink,
} from '@modelcontextprotocol/sdk/types.js'
import type { AppContext } from '../context.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Caller } from '../operations/define.ts'
import { operations } from '../operations/registry.ts'
import { definitionForModel } from './confidential.ts'
import { procedureText } from './procedure-text.ts'
import { ProtocolError } from './tool-failure.ts'

const root = 'stepwarden://procedures/'
const uriPattern = /^stepwarden:\/\/procedures\/([A-Z][A-Z0-9_]{1,63})(\.json)?$/

/** The protocol's code for a resource that is not there. */
const resourceNotFound = -32002

const markdown = 'text/markdown'
const json = 'application/json'

/** The playbook behind an answer, to be read by whoever wants to know more of it. */
export function procedureLink(procedureKey: string): ResourceLink {
  const uri = `${root}${procedureKey}`
  return { type: 'resource_link', uri, name: procedureKey, mimeType: markdown }
}

export const procedureTemplates: ListResourceTemplatesResult = {
  resourceTemplates: [
    {
      uriTemplate: `${root}{key}`,
      name: 'procedure',
      title: 'A playbook',
      description:
        'The active version of a playbook, to read: what it is for, its input, its steps',
      mimeType: markdown,
    },
    {
      uriTemplate: `${root}{key}.json`,
      name: 'procedure-definition',
      title: 'A playbook as JSON',
      description: 'The definition of the active version, without its confidential conditions',
      mimeType: json,
    },
  ],
}

/** A page of the playbooks that are active, by key. Others are not offered, so a page may hold less than was looked at. */
export async function listProcedureResources(
  app: AppContext,
  caller: Caller,
  cursor: string | undefined,
): Promise<ListResourcesResult> {
  const page = { limit: 50, ...(cursor !== undefined && { cursor }) }
  const { items, nextCursor } = await operations.listProcedures.invoke(app, caller, page)
  return {
    resources: items
      .filter(({ activeVersionNumber }) => activeVersionNumber !== null)
      .map(({ procedureKey, name, category, activeVersionNumber, stopped }) => ({
        uri: `${root}${procedureKey}`,
        name: procedureKey,
        title: name,
        description: `Category ${category}, version ${activeVersionNumber}${stopped === null ? '' : ', stopped'}`,
        mimeType: markdown,
      })),
    ...(nextCursor !== null && { nextCursor }),
  }
}

/**
 * The active version of a playbook. A draft, and what served before, are for people at the other doors.
 *
 * @throws ProtocolError for a URI that names none; ServiceError `PROCEDURE_NOT_FOUND`, `PROCEDURE_NOT_ACTIVE`.
 */
export async function readProcedureResource(
  app: AppContext,
  caller: Caller,
  uri: string,
): Promise<ReadResourceResult> {
  const [, procedureKey, asJson] = uriPattern.exec(uri) ?? []
  if (procedureKey === undefined) {
    throw new ProtocolError(
      resourceNotFound,
      `There is no resource ${uri}. Those that there are look like ${root}KEY and ${root}KEY.json.`,
      { uri },
    )
  }
  const procedure = await operations.getProcedure.invoke(app, caller, { procedureKey })
  const { version } = procedure
  if (version.status !== 'active') throw new ServiceError('PROCEDURE_NOT_ACTIVE', { procedureKey })
  if (asJson === undefined) {
    return { contents: [{ uri, mimeType: markdown, text: procedureText(procedure) }] }
  }
  const { versionNumber, definitionHash, definition } = version
  const text = JSON.stringify(
    { procedureKey, versionNumber, definitionHash, definition: definitionForModel(definition) },
    null,
    2,
  )
  return { contents: [{ uri, mimeType: json, text }] }
}

/** A playbook that is not there, or not active, as the protocol tells of it. */
export function resourceError(error: ServiceError, uri: string): ProtocolError | undefined {
  const isMissing = error.code === 'PROCEDURE_NOT_FOUND' || error.code === 'PROCEDURE_NOT_ACTIVE'
  if (!isMissing) return undefined
  return new ProtocolError(resourceNotFound, error.message, { uri, code: error.code })
}
