import { existsSync } from 'node:fs'
import type { Answer, Command } from './command.ts'
import { exitCodes } from './failures.ts'
import { carryOnLeft } from './left-runs.ts'
import { seedProcedures, seedScreen } from './seed.ts'
import type { Shell } from './shell.ts'
import { resolveText } from './ticket-commands.ts'

/** What five customers wrote; the demo's payment desk knows their transactions. */
const tickets = [
  'Checkout failed but my card was charged for TXN-DEMO-001',
  'I was charged twice for TXN-DUP-002',
  'Where is my refund for TXN-REFUND-003? I am still waiting for my money back',
  'My payment failed but the money left my account: TXN-INCONSISTENT-004',
  'Checkout failed when I tried to pay, TXN-GATEWAY-005',
]

export const demo: Command = {
  path: 'demo',
  summary: 'Load the demo’s playbooks and answer five tickets with them',
  notes:
    'It needs no key and no server, and asks nothing. A second time finds the refund of the first, and issues no other.',
  run: runDemo,
}

async function runDemo(shell: Shell): Promise<Answer> {
  const { terminal } = shell
  const { database } = shell.config
  // On a folder of its own nobody is there to approve anything; a deployment that is there keeps what it requires.
  if ('dataDir' in database && !existsSync(database.dataDir)) shell.requireApprovals(0)
  const where =
    'dataDir' in database ? `the folder ${database.dataDir}` : 'the database of DATABASE_URL'
  terminal.print(
    terminal.wrap(
      `The demo works in ${where}. It makes a new one with STEPWARDEN_REQUIRED_APPROVALS=0, so that its playbooks go into service without the approval of a second person; the audit log says so of each (ungoverned).`,
      0,
    ),
  )
  await carryOnLeft(shell)
  const seeded = await seedProcedures(shell)
  terminal.print(`\n${seedScreen(terminal, seeded)}`)

  if (seeded.some(({ result }) => result === 'draft')) {
    return {
      output: { seeded, tickets: [] },
      screen:
        "\nThis deployment asks for an approval before a playbook serves. Approve and activate these ('stepwarden procedures approve KEY 1'), or run the demo in a folder of its own: stepwarden demo --data-dir demo",
      exitCode: exitCodes.conflict[0],
    }
  }
  const answers = []
  for (const [index, text] of tickets.entries()) {
    terminal.print(`\n${terminal.style('heading', `Ticket ${index + 1} of ${tickets.length}`)}`)
    const { output, screen } = await resolveText(shell, { text })
    terminal.print(screen)
    answers.push(output)
  }
  return {
    output: { seeded, tickets: answers },
    screen: [
      '',
      'Where to go from here:',
      '  stepwarden resolve "I was charged twice for TXN-DUP-002"   the same with a ticket of yours',
      '  stepwarden executions list                                 every run, step by step',
      '  stepwarden escalations list                                what waits for a person',
      '  stepwarden procedures show DUPLICATE_CHARGE_PLAYBOOK       the playbook that was followed',
      '  stepwarden                                                 a session, at a terminal',
    ].join('\n'),
  }
}
