import { createStepwarden, type Principal } from '../../src/index.ts'

const kim: Principal = {
  id: 'kim',
  kind: 'human',
  roles: ['agent'],
  groups: [],
  tenantId: 'default',
}

export async function storeAndWork(dataDir: string): Promise<string | null> {
  await using stepwarden = await createStepwarden({ database: { dataDir } })
  const client = stepwarden.as(kim)
  const { execution } = await client.startExecution({
    procedureKey: 'REFUND_STATUS',
    input: { transactionId: 'TXN-REFUND-003' },
    detach: true,
  })

  const working = stepwarden.work({
    concurrency: 8,
    onCarriedOn: (executionId) => console.log('carried on', executionId),
  })
  // A service waits for its SIGTERM here.
  await working.untilIdle()
  await working.stop()

  const run = await client.getExecution({ executionId: execution.id })
  return run.execution.outcome
}
