import { addTenant, listTenants } from '../operations/tenants.ts'
import type { Command } from './command.ts'
import { usageError } from './failures.ts'
import { localPerson } from './shell.ts'
import { table } from './table.ts'

const add: Command = {
  path: 'tenants add',
  summary: 'Make a tenant, whose data no other tenant sees',
  arguments: [
    { usage: '<ID>', text: 'lower-case letters, digits and hyphens; it never changes' },
    { usage: '[NAME...]', text: 'how people call it (default: the id)' },
  ],
  notes: [
    'It is for those who run the deployment, and asks for no key. Then:',
    '',
    '  export STEPWARDEN_TENANT=acme',
    '  stepwarden principals add ann --roles admin',
    '  stepwarden keys create ann',
  ].join('\n'),
  async run(shell, given) {
    const id = given.text('ID')
    if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(id)) {
      throw usageError(
        `'${id}' is no id of a tenant.`,
        'Give up to 63 lower-case letters, digits and hyphens, such as acme.',
      )
    }
    const name = given.find('NAME') ?? id
    await addTenant(await shell.bareApp(), localPerson(id), name)
    return {
      output: { tenantId: id, name },
      screen: `Tenant ${id} is there. STEPWARDEN_TENANT=${id} works for it.`,
    }
  },
}

const list: Command = {
  path: 'tenants list',
  summary: 'List the tenants of this installation',
  async run(shell) {
    const app = await shell.bareApp()
    const tenants = (await listTenants(app)).map((tenantId) => ({ tenantId }))
    const rows = tenants.map(({ tenantId }) => [tenantId])
    return { output: tenants, screen: table(shell.terminal, ['TENANT'], rows, 'No tenants.') }
  },
}

export const tenantCommands: readonly Command[] = [add, list]
