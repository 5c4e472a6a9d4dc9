import { isServiceError, ServiceError } from '../domain/errors.ts'

/** Where a PostgreSQL is, as people may see it: host, port and database, never the user or the password. */
export function databaseName(url: string): string {
  try {
    const { hostname, port, pathname, searchParams } = new URL(url)
    const host = searchParams.get('host') ?? (hostname === '' ? 'localhost' : hostname)
    return `${host}:${port === '' ? 5432 : port}${decodeURIComponent(pathname)}`
  } catch {
    throw new ServiceError('DATABASE_UNAVAILABLE', {
      database: 'named by DATABASE_URL',
      problem: 'it is not a URL of the form postgresql://user:password@host:5432/database',
    })
  }
}

/**
 * What stands between the service and its database, for people; errors of any other kind come back as they are.
 * `database` is what `databaseName` answers.
 */
export function explainDatabaseError(error: unknown, database: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const problem = error instanceof Error ? error.message : String(error)
  const notReady = (nextMove: string, what = problem) =>
    new ServiceError('DATABASE_NOT_READY', { database, problem: what, nextMove }, { cause: error })
  switch (code) {
    // The role that the connection asks for does not exist, or the table of migrations does not.
    case '22023':
    case '42P01':
      return notReady("Run 'stepwarden migrate'.", 'its schema was never made')
    case '42501':
      return notReady(
        'docs/database.md lists what the login needs and the statements that give it; a superuser can run them once.',
      )
    // What CREATE EXTENSION says where the server has no such extension, and where it has it without its files.
    case '0A000':
    case '58P01':
      return /vector/.test(problem)
        ? notReady(
            "Install pgvector on the server (the image pgvector/pgvector:pg15 has it), then run 'stepwarden migrate'.",
          )
        : error
    case '40001':
    case '40P01':
      return new ServiceError('CHANGES_COLLIDED', { database }, { cause: error })
    // A principal that an application vouches for may be of any tenant.
    case '23503':
      return String(constraintOf(error)).endsWith('_tenant_id_fkey')
        ? new ServiceError('TENANT_NOT_FOUND', { tenantId: tenantIn(error) }, { cause: error })
        : error
    case '25006':
    case '28000':
    case '28P01':
    case '3D000':
    case '53100':
    case '53300':
    case '55P03':
    case '57P01':
    case '57P02':
    case '57P03':
    // A statement that the server, or an operator, has ended.
    case '57014':
      return new ServiceError(
        'DATABASE_UNAVAILABLE',
        { database, problem: problem === '' ? code : problem },
        { cause: error },
      )
    default:
      // The driver has no codes for what it finds itself. "Not queryable" is a connection that was lost between two queries.
      return isOfNetwork(error) ||
        /^Connection terminated|timeout expired|SSL connection|is not queryable$/.test(problem)
        ? new ServiceError('DATABASE_UNAVAILABLE', { database, problem }, { cause: error })
        : error
  }
}

/** Of `Key (tenant_id)=(nowhere) is not present in table "tenants".` */
function tenantIn(error: unknown): string {
  const [, tenantId = ''] = /\(tenant_id\)=\((.*?)\)/.exec(String(Object(error).detail)) ?? []
  return tenantId
}

const networkCalls: readonly unknown[] = ['connect', 'read', 'write', 'getaddrinfo']

/** What the operating system says of a socket or a name: ECONNREFUSED, ENETUNREACH, EAI_AGAIN, EMFILE and the like. */
function isOfNetwork(error: unknown): boolean {
  // Of a file it says the path as well.
  return (
    error instanceof Error && networkCalls.includes(Object(error).syscall) && !('path' in error)
  )
}

/** What PostgreSQL says of itself when it cannot work now: connection, resources, operator, system; two that collide. */
const outageClasses = ['08', '40', '53', '57', '58']

/** Whether an error says that the database cannot work now, and not that something is wrong with what it was asked. */
export function isOutage(error: unknown): boolean {
  const explained = explainDatabaseError(error, '')
  if (isServiceError(explained)) return explained.kind === 'unavailable'
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code.length === 5 && outageClasses.includes(code.slice(0, 2))
}

/** What failed in a database, for people: an outage says so, whatever the driver calls it; all else comes back as it is. */
export function explainOutage(error: unknown, database: string): unknown {
  const explained = explainDatabaseError(error, database)
  if (isServiceError(explained) || !isOutage(error)) return explained
  const problem = error instanceof Error ? error.message : String(error)
  return new ServiceError('DATABASE_UNAVAILABLE', { database, problem }, { cause: error })
}

/** The name of the constraint, or the guard, that has refused a statement. */
export function constraintOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'constraint' in error
    ? error.constraint
    : undefined
}
