import { createStepwarden, type Principal } from '../../src/index.ts'

const ann: Principal = {
  id: 'ann',
  kind: 'human',
  roles: ['agent'],
  groups: [],
  tenantId: 'default',
}

export async function resolve(dataDir: string, text: string): Promise<string | undefined> {
  await using stepwarden = await createStepwarden({ database: { dataDir } })
  const { execution, reply } = await stepwarden.as(ann).resolveTicket({ ticket: { text } })
  if (execution?.status === 'escalated') console.warn(execution.reason?.message)
  return reply?.text
}
