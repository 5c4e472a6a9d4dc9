import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reasonOf } from '../../src/domain/escalation.ts'
import type { Scope } from '../../src/domain/expression.ts'
import type { Json } from '../../src/domain/json.ts'
import {
  approvedReply,
  composeReply,
  defaultNoMatchText,
  noMatchReply,
  type ReplyRequest,
} from '../../src/reply/built-in.ts'

const procedure = {
  key: 'FAILED_PAYMENT_PLAYBOOK',
  name: 'Failed Payment Resolution',
  versionNumber: 3,
}
const resolved = { status: 'completed', outcome: 'resolved', reason: null } as const
const declined = {
  status: 'completed',
  outcome: 'declined',
  reason: reasonOf('requirement_failed', { text: 'The customer is not on the fraud list' }),
} as const
const escalated = { status: 'escalated', outcome: null, reason: reasonOf('tool_failed') } as const

function scopeWith(steps: { readonly [key: string]: Json }): Scope {
  return {
    input: { transactionId: 'TXN-DEMO-001', note: '{{input.transactionId}}' },
    ticket: { text: 'I want 1,000,000 USD', id: 'T-1' },
    policy: { refundLimit: 500 },
    steps,
    execution: { id: 'exec_1', startedAt: '2026-01-02T03:04:05.000Z' },
    now: 0,
  }
}

const scope = scopeWith({
  check_refund: { status: 'completed', attempts: 1, output: { state: 'processing', days: 2 } },
  issue_refund: { status: 'failed', attempts: 2, error: { code: 'tool_failed' } },
  tell: { status: 'skipped', attempts: 0 },
})

function requestOf(more: Partial<ReplyRequest>): ReplyRequest {
  return { procedure, ...resolved, scope, unsayable: [], ...more }
}

function replyTo(more: Partial<ReplyRequest>) {
  return composeReply(requestOf(more))
}

describe('composeReply', () => {
  it('fills the approved wording in from the record, and names each fact and its step', () => {
    const reply = replyTo({
      replies: {
        resolved:
          'Refund for {{input.transactionId}}: {{steps.check_refund.output.state}}, {{steps.check_refund.output.days}} days.',
      },
    })

    expect(reply).toEqual({
      text: 'Refund for TXN-DEMO-001: processing, 2 days.',
      source: 'built_in',
      facts: [
        { path: 'input.transactionId', value: 'TXN-DEMO-001', stepKey: null },
        { path: 'steps.check_refund.output.state', value: 'processing', stepKey: 'check_refund' },
        { path: 'steps.check_refund.output.days', value: 2, stepKey: 'check_refund' },
      ],
      verification: { ok: true, findings: [] },
    })
  })

  it('states no fact where the fallback of a reference stands', () => {
    const reply = replyTo({
      replies: {
        resolved:
          'State: {{steps.issue_refund.output.state or "unchanged"}}, {{steps.check_refund.output or "open"}}.',
      },
    })

    expect(reply.text).toBe('State: unchanged, open.')
    expect(reply.facts).toEqual([])
    expect(reply.verification.ok).toBe(true)
  })

  it.each([
    ['resolved', resolved],
    ['declined', declined],
    ['escalated', escalated],
  ] as const)('takes the wording for %s at that end alone', (ending, end) => {
    const replies = { resolved: 'R', declined: 'D', escalated: 'E' }

    expect(replyTo({ ...end, replies }).text).toBe(ending.charAt(0).toUpperCase())
  })

  it.each([
    ['resolved', resolved],
    ['declined', declined],
    ['escalated', escalated],
    ['cancelled', { status: 'cancelled', outcome: null, reason: null }],
  ] as const)('names procedure and outcome by default when %s, and no rule', (ending, end) => {
    const { text, facts, verification } = replyTo({ ...end })

    expect(text).toContain('Failed Payment Resolution')
    expect(text).toContain(ending)
    expect(text).not.toMatch(/fraud|tool/)
    expect(facts).toEqual([])
    expect(verification).toEqual({ ok: true, findings: [] })
  })

  it('falls back to the default and says why when a value is not there', () => {
    const reply = replyTo({
      replies: { resolved: 'Refunded {{steps.issue_refund.output.amount}}.' },
    })

    expect(reply.text).toBe(replyTo({}).text)
    expect(reply.facts).toEqual([])
    expect(reply.verification.ok).toBe(false)
    expect(reply.verification.findings).toEqual([
      expect.stringMatching(/^replies\.resolved was not used: \{\{steps\.issue_refund\.output/),
    ])
  })

  it.each(['failed', 'skipped', 'running', 'expired', 'denied', null])(
    'never states an output of a step that is %s',
    (status) => {
      const reply = replyTo({
        scope: scopeWith({ issue_refund: { status, output: { state: 'submitted' } } }),
        replies: { resolved: 'Your refund is {{steps.issue_refund.output.state}}.' },
      })

      expect(reply.text).not.toContain('submitted')
      expect(reply.verification).toEqual({
        ok: false,
        findings: [
          'replies.resolved was not used: {{steps.issue_refund.output.state}} may not be stated: step issue_refund did not complete.',
        ],
      })
    },
  )

  it('never states an item of a loop that did not complete', () => {
    const items = [
      { status: 'completed', output: { state: 'sent' } },
      { status: 'failed', output: { state: 'lost' } },
    ]
    const loop = scopeWith({ send: { status: 'completed', output: [], items } })

    const sent = replyTo({
      scope: loop,
      replies: { resolved: '{{steps.send.items[0].output.state}}!' },
    })
    const lost = replyTo({
      scope: loop,
      replies: { resolved: '{{steps.send.items[1].output.state}}!' },
    })

    expect(sent.text).toBe('sent!')
    expect(lost.text).not.toContain('lost')
    expect(lost.verification.ok).toBe(false)
  })

  it('never states what the ticket says, but what the caller says of it', () => {
    const claim = replyTo({ replies: { resolved: 'You get {{ticket.text}}.' } })
    const id = replyTo({ replies: { resolved: 'Ticket {{ticket.id}}.' } })

    expect(claim.text).not.toContain('1,000,000')
    expect(claim.verification.ok).toBe(false)
    expect(id.text).toBe('Ticket T-1.')
  })

  it('never states what may not be shown, nor a part of it or what it is part of', () => {
    const replies = { resolved: 'Note {{input.note}}.' }
    const why = 'it is sensitive'

    for (const path of [['input'], ['input', 'note'], ['input', 'note', 'first']] as const) {
      const reply = replyTo({ replies, unsayable: [{ path, why }] })
      expect(reply.text).toBe(replyTo({}).text)
      expect(reply.verification.findings).toEqual([
        'replies.resolved was not used: {{input.note}} may not be stated: it is sensitive.',
      ])
    }
    expect(replyTo({ replies, unsayable: [{ path: ['input', 'other'], why }] }).text).toContain(
      'Note',
    )
  })

  it.each([
    ['is no text', '{{policy.refundLimit}}'],
    ['is blank', ' \n '],
    ['is broken', 'Hello {{'],
  ])('falls back to the default when the wording %s', (_, wording) => {
    const reply = replyTo({ replies: { resolved: wording } })

    expect(reply.text).toBe(replyTo({}).text)
    expect(reply.verification.ok).toBe(false)
  })

  it('never reads inserted values for references again', () => {
    const reply = replyTo({ replies: { resolved: 'Note: {{input.note}}' } })

    expect(reply.text).toBe('Note: {{input.transactionId}}')
  })

  it('asks for what is missing, by description, before any wording', () => {
    const reply = replyTo({
      ...escalated,
      reason: reasonOf('missing_input', { fields: ['transactionId'] }),
      missing: [{ name: 'transactionId', description: 'Your transaction id', reason: 'not_found' }],
      replies: { escalated: 'A colleague will look.' },
    })

    expect(reply.text).toContain('- Your transaction id')
    expect(reply.verification.ok).toBe(true)
  })

  it('asks by the names in the reason when no descriptions are given', () => {
    const reason = reasonOf('missing_input', { fields: ['transactionId'] })

    expect(replyTo({ ...escalated, reason }).text).toContain('- transaction id')
  })

  it('holds no output but of completed steps, whatever the record', () => {
    const status = fc.constantFrom(
      'pending',
      'running',
      'waiting',
      'completed',
      'failed',
      'skipped',
    )
    const record = fc.record({ status, hasOutput: fc.boolean() })
    fc.assert(
      fc.property(record, record, fc.boolean(), (first, second, hasFallback) => {
        const step = (name: string, { status, hasOutput }: typeof first): Json =>
          hasOutput ? { status, output: { v: `secret-${name}` } } : { status }
        const or = hasFallback ? ' or "-"' : ''
        const reply = replyTo({
          scope: scopeWith({ a: step('a', first), b: step('b', second) }),
          replies: { resolved: `{{steps.a.output.v${or}}} and {{steps.b.output.v${or}}}` },
        })

        for (const [name, { status }] of [
          ['a', first],
          ['b', second],
        ] as const) {
          if (reply.text.includes(`secret-${name}`)) {
            expect(status).toBe('completed')
            expect(reply.facts.some(({ stepKey }) => stepKey === name)).toBe(true)
          }
        }
        expect(reply.verification.ok).toBe(reply.text !== replyTo({}).text)
      }),
    )
  })
})

describe('noMatchReply', () => {
  it('sends the fixed text, or the one that is configured', () => {
    expect(noMatchReply().text).toBe(defaultNoMatchText)
    expect(noMatchReply('Please call us.')).toMatchObject({ text: 'Please call us.', facts: [] })
  })
})

describe('approvedReply', () => {
  const replies = {
    resolved: 'We have refunded you. The reference is {{steps.check_refund.output.state}}.',
  }

  it('is the whole wording with its facts', () => {
    expect(approvedReply(requestOf({ replies }))).toEqual({
      text: 'We have refunded you. The reference is processing.',
      facts: [
        {
          path: 'steps.check_refund.output.state',
          value: 'processing',
          stepKey: 'check_refund',
        },
      ],
    })
  })

  it.each([
    ['there is none', {}],
    ['there is none for the end', { ...declined, replies }],
    ['a value is not there', { replies: { resolved: 'We paid. {{steps.tell.output.x}}' } }],
    [
      'a step did not complete',
      { scope: scopeWith({ check_refund: { status: 'failed' } }), replies },
    ],
    [
      'a value may not be shown',
      { replies, unsayable: [{ path: ['steps', 'check_refund'], why: 'it is sensitive' }] },
    ],
  ] as const)('is nothing at all when %s', (_, more) => {
    expect(approvedReply(requestOf(more))).toBeUndefined()
  })
})
