import type { Outcome } from '../domain/execution.ts'

/** How a run ended, as a customer is told. */
export type Ending = Outcome | 'escalated' | 'cancelled'

/**
 * What a reply may say in words of its own, beside facts and claims. Each is a whole sentence in lower case without
 * punctuation; NAME stands for the procedure's name. Courtesy states nothing, and an outcome only what the run's end
 * is: a list of what is allowed holds where a list of what is forbidden always lacks a word.
 */
const thing = '(?:your|the|this) (?:request|case|ticket|issue)'
const it = `(?:${thing}|it|this|that)`
const procedure = '(?: (?:under|with|through|by|according to) our procedure(?: NAME)?)?'
const questions = '(?:any )?(?:more |further |other |additional )?(?:questions?|concerns)'
const help = '(?:any )?(?:more |further |additional )?(?:help|assistance)'
const contact =
  '(?:let us know|contact us|write to us|write back|reply to this message|answer this message|get in touch(?: with us)?|reach out(?: to us)?)'
const colleague =
  '(?:a|our) (?:colleagues?|specialists?|(?:member|person|colleague) of (?:our|the) (?:support )?team|support team|team)'
const willAct =
  '(?:look (?:at|into) (?:it|this|your (?:request|case))|review (?:it|this|your (?:request|case))|write to you|contact you|reply to you|answer you|get back to you)'

const courtesy = [
  '(?:hello|hi|good day)(?: there)?',
  'dear (?:valued )?customer',
  '(?:thank you|many thanks|thanks)(?: very much| so much)?',
  '(?:thank you|many thanks|thanks)(?: very much| so much)? for (?:your (?:message|request|question|ticket|email|report|patience|understanding)|writing(?: to us| in)?|contacting us|getting in touch(?: with us)?|reaching out(?: to us)?|letting us know|telling us)(?: about TOPIC)?(?: and for your (?:patience|understanding))?',
  "(?:we are|we're|i am|i'm) (?:very |truly |so )?sorry (?:for|about) (?:the|this|any|your) (?:trouble|inconvenience|wait|frustration|confusion)(?: (?:this|it|that) (?:has caused|may have caused|caused)(?: you)?)?",
  'we apologi[sz]e for (?:the|this|any|your) (?:trouble|inconvenience|wait|frustration|confusion)(?: (?:this|it|that) (?:has caused|may have caused|caused)(?: you)?)?',
  'we understand (?:that |how )?(?:this|the situation) (?:is|can be|may be|must be) (?:frustrating|annoying|stressful|worrying|unpleasant)',
  'we appreciate your (?:patience|understanding)',
  `(?:please )?(?:feel free to )?${contact}(?: again)?(?: at any time)?(?: if (?:you have ${questions}|you need ${help}|there is anything else|anything is unclear))?`,
  `if (?:you have ${questions}|you need ${help}|there is anything else|anything is unclear) (?:please )?(?:feel free to )?${contact}(?: again)?(?: at any time)?`,
  "(?:we are|we're) (?:always )?(?:happy|glad|here) to help(?: you)?",
  'here is (?:what|the information that) (?:we|our records) (?:have|found|show)(?: about TOPIC)?',
  '(?:best|kind|warm) regards(?: (?:from )?(?:your|the|our) (?:support )?team)?',
  '(?:sincerely|your support team|the support team)',
  'have a (?:nice|good|great) day',
]

const outcomes: { readonly [E in Ending]: readonly string[] } = {
  resolved: [
    `(?:(?:we are|we're) (?:happy|glad|pleased) to (?:say|tell you|confirm|let you know|inform you) (?:that )?)?(?:we have followed our procedure(?: NAME)? for ${thing} and )?${it} (?:is|was|has been) (?:now )?(?:resolved|completed)${procedure}`,
    `we have (?:now )?(?:resolved|completed) ${thing}${procedure}`,
  ],
  declined: [
    `(?:unfortunately |we are sorry but |we are sorry that |we regret that |we are sorry to (?:say|tell you) that )?(?:we have followed our procedure(?: NAME)? for ${thing} and )?${it} (?:is|was|has been) declined${procedure}`,
    `(?:unfortunately |we are sorry but |we are sorry that |we regret that |we are sorry to (?:say|tell you) that )?we (?:cannot|can not|can't|are unable to|are not able to|could not) (?:help with|approve|accept|go on with|proceed with|complete|fulfil) ${it}${procedure}`,
    `we (?:have|had) (?:to decline|declined) ${thing}${procedure}`,
  ],
  escalated: [
    `${it} (?:is|was|has been) (?:now )?(?:escalated|handed over|handed|passed on|passed|forwarded) to ${colleague}(?: who will ${willAct}(?: and ${willAct})?)?`,
    `we have (?:now )?(?:escalated|handed over|handed|passed on|passed|forwarded) ${thing} to ${colleague}(?: who will ${willAct}(?: and ${willAct})?)?`,
    `${colleague} (?:will|has to) ${willAct}(?: and(?: will)? ${willAct})?`,
    `${thing} comes under our procedure(?: NAME)?`,
  ],
  cancelled: [`${thing} (?:is|was|has been) cancelled`],
}

const courtesyPatterns = courtesy.map((line) => whole([line.replaceAll('TOPIC', '(?<topic>.+?)')]))
const outcomePatterns: { readonly [E in Ending]: RegExp } = {
  resolved: whole(outcomes.resolved),
  declined: whole(outcomes.declined),
  escalated: whole(outcomes.escalated),
  cancelled: whole(outcomes.cancelled),
}

/** One sentence for each ending that a model may use as it is. */
export const outcomeExamples: { readonly [E in Ending]: string } = {
  resolved: 'Your request is resolved.',
  declined: 'Unfortunately we cannot approve your request.',
  escalated: 'We have passed your request to a colleague, who will write to you.',
  cancelled: 'Your request was cancelled.',
}

/** Whether words say how the run ended, and nothing else. `NAME` among them is the procedure's name. */
export function isOutcome(words: string, ending: Ending): boolean {
  return outcomePatterns[ending].test(words)
}

/**
 * Whether words are courtesy, which states nothing. `isTopic` is asked about what the message was about, such as "your
 * transaction".
 */
export function isCourtesy(words: string, isTopic: (words: string) => boolean): boolean {
  return courtesyPatterns.some((pattern) => {
    const match = pattern.exec(words)
    if (match === null) return false
    const topic = match.groups?.topic
    return topic === undefined || isTopic(topic)
  })
}

function whole(lines: readonly string[]): RegExp {
  return new RegExp(`^(?:${lines.join('|')})$`)
}
