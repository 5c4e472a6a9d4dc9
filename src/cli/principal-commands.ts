import { changePrincipal } from '../operations/change-principal.ts'
import { createKey } from '../operations/create-key.ts'
import { createPrincipal } from '../operations/create-principal.ts'
import { listKeys } from '../operations/list-keys.ts'
import { listPrincipals } from '../operations/list-principals.ts'
import { revokeKey } from '../operations/revoke-key.ts'
import { whoAmI } from '../operations/who-am-i.ts'
import {
  type Command,
  type Given,
  nextPageLine,
  operationCommand,
  pageInput,
  pageOptions,
} from './command.ts'
import { usageError } from './failures.ts'
import { fields, table } from './table.ts'
import type { Terminal } from './terminal.ts'
import { instantText } from './value-line.ts'

type Principal = Awaited<ReturnType<typeof createPrincipal.invoke>>

const who = { usage: '<ID>', text: 'the id of a principal' }
const rolesOption = {
  usage: '--roles <ROLES>',
  text: 'agent, author, approver, admin, auditor; several with commas',
}
const groupsOption = { usage: '--groups <GROUPS>', text: 'groups, several with commas' }
const nameOption = { usage: '--name <NAME>', text: 'how people call them' }

const add = operationCommand({
  path: 'principals add',
  operation: createPrincipal,
  arguments: [
    { usage: '<ID>', text: 'such as ann, ann@example.org or billing-bot; it never changes' },
  ],
  options: [
    rolesOption,
    { usage: '--kind <KIND>', text: 'human, ai or service (default human); it never changes' },
    groupsOption,
    nameOption,
  ],
  notes: "Only people approve. 'stepwarden keys create ID' makes a key that lets them in.",
  input: (given) => ({
    principalId: given.text('ID'),
    kind: given.find('kind'),
    name: given.find('name'),
    roles: listOf(given, 'roles') ?? [],
    groups: listOf(given, 'groups'),
  }),
  screen: principalScreen,
})

const set = operationCommand({
  path: 'principals set',
  operation: changePrincipal,
  arguments: [who],
  options: [
    rolesOption,
    groupsOption,
    nameOption,
    { usage: '--disable', text: 'refuse all keys of theirs' },
    { usage: '--enable', text: 'let them in again' },
  ],
  input: (given) => ({
    principalId: given.text('ID'),
    name: given.find('name'),
    roles: listOf(given, 'roles'),
    groups: listOf(given, 'groups'),
    disabled: disabledOf(given),
  }),
  screen: principalScreen,
})

const list = operationCommand({
  path: 'principals list',
  operation: listPrincipals,
  options: pageOptions,
  input: pageInput,
  screen: ({ items, nextCursor }, terminal) =>
    table(
      terminal,
      ['PRINCIPAL', 'KIND', 'ROLES', 'GROUPS', 'NAME', 'SHUT OUT'],
      items.map((item) => [
        item.principalId,
        item.kind,
        item.roles.join(', '),
        item.groups.join(', '),
        item.name,
        instantText(item.disabledAt) ?? '',
      ]),
      "Nobody. 'stepwarden principals add ann --roles admin' adds somebody.",
    ) + nextPageLine(terminal, nextCursor),
})

const create = operationCommand({
  path: 'keys create',
  operation: createKey,
  arguments: [who],
  options: [
    { usage: '--name <NAME>', text: 'what it is for' },
    { usage: '--expires <DAYS>', text: 'after how many days it is refused (default: never)' },
  ],
  input: (given) => ({
    principalId: given.text('ID'),
    name: given.find('name'),
    expiresInDays: given.number('expires'),
  }),
  screen: ({ key, keyId, principalId, expiresAt }, terminal) =>
    `${fields(terminal, [
      ['Key', key],
      ['Id', keyId],
      ['Of', principalId],
      ['Expires', instantText(expiresAt) ?? 'never'],
    ])}\n\nIt is kept nowhere and not shown again. Set it as STEPWARDEN_KEY.`,
})

const listAll = operationCommand({
  path: 'keys list',
  operation: listKeys,
  options: [{ usage: '--of <ID>', text: 'only those of one principal' }, ...pageOptions],
  input: (given) => ({ ...pageInput(given), principalId: given.find('of') }),
  screen: ({ items, nextCursor }, terminal) =>
    table(
      terminal,
      ['KEY', 'OF', 'NAME', 'MADE', 'EXPIRES', 'REVOKED'],
      items.map((item) => [
        item.keyId,
        item.principalId,
        // What a key is called that nobody has named.
        item.name === 'key' ? '–' : item.name,
        instantText(item.createdAt) ?? '',
        instantText(item.expiresAt) ?? 'never',
        instantText(item.revokedAt) ?? '',
      ]),
      'No keys.',
    ) + nextPageLine(terminal, nextCursor),
})

const revoke = operationCommand({
  path: 'keys revoke',
  operation: revokeKey,
  arguments: [{ usage: '<KEY_ID>', text: 'the id of the key, key_…' }],
  input: (given) => ({ keyId: given.text('KEY_ID') }),
  screen: ({ keyId, principalId, revokedAt }) =>
    `${keyId} of ${principalId} lets nobody in since ${instantText(revokedAt)}.`,
})

const whoami = operationCommand({
  path: 'whoami',
  operation: whoAmI,
  input: () => ({}),
  screen: ({ principalId, kind, roles, groups, tenantId, isAuthenticated }, terminal) =>
    fields(terminal, [
      ['You are', principalId],
      ['Kind', kind],
      ['Roles', roles.join(', ') || 'none'],
      ['Groups', groups.join(', ') || 'none'],
      ['Tenant', tenantId],
      [
        'By',
        isAuthenticated
          ? 'the key in STEPWARDEN_KEY'
          : 'no key: unauthenticated, so no approval of yours counts',
      ],
    ]),
})

export const principalCommands: readonly Command[] = [
  whoami,
  add,
  set,
  list,
  create,
  listAll,
  revoke,
]

function principalScreen(principal: Principal, terminal: Terminal): string {
  return fields(terminal, [
    ['Principal', principal.principalId],
    ['Kind', principal.kind],
    ['Name', principal.name],
    ['Roles', principal.roles.join(', ') || 'none'],
    ['Groups', principal.groups.join(', ') || 'none'],
    ['Shut out', instantText(principal.disabledAt)],
  ])
}

function listOf(given: Given, name: string): readonly string[] | undefined {
  const text = given.find(name)
  if (text === undefined) return undefined
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function disabledOf(given: Given): boolean | undefined {
  const [disable, enable] = [given.has('disable'), given.has('enable')]
  if (disable && enable) throw usageError('--disable and --enable exclude each other.', 'Give one.')
  return disable || enable ? disable : undefined
}
