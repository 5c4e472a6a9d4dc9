/** Ways of saying what the grammar has another word for, and that word. Quoted texts are masked by then. */
const wordings: readonly (readonly [pattern: RegExp, plain: string])[] = [
  [/\b(is|are|was|were|does|do|has|have)n['’]t\b/g, '$1 not'],
  [/\b(?:cannot|can not|may not) be\b/g, 'is not'],
  [/\b(?:must|should|shall|has to|have to|needs? to) not be\b/g, 'is not'],
  [/\b(?:must|should|shall|has to|have to|needs? to) be\b/g, 'is'],
  [/\b(?:must|should|shall|may) not have\b/g, 'does not have'],
  [/\b(?:must|should|shall|has to|have to|needs? to) have\b/g, 'has'],
  [/\b(?:must|should|shall) (not )?(exceed|contain|exist)\b/g, 'does $1$2'],
  [/\bdoes (exceed|contain|exist)\b/g, '$1s'],
  [
    /\b(is|are|was|were|has|have|does|do)( not)? (?:currently|still|already|yet|also|actually)\b/g,
    '$1$2',
  ],
  [/\b(?:has|have) (not |never )?been\b/g, 'is $1'],
  [/\bis (not |never )?\s+/g, 'is $1'],
  [/\bdo(?:es)? not (?:fall|lie) (between|within|in|on)\b/g, 'is not $1'],
  [/\b(?:lies|lie|falls|fall) (strictly )?(between|within|in|on)\b/g, 'is $1$2'],
  [/ yet(?=$| or | and |,)/g, ''],
  [
    /(^| )no (\w+) is (?:given|supplied|set|there|present|chosen|assigned|recorded|known)(?=$| or | and |,)/g,
    '$1$2 is not given',
  ],
  [
    /\b(?:weighs?|costs?|lasts?|amounts to|covers?) (?=more |less |at |no more|no less|exactly |over |under )/g,
    'is ',
  ],
  [/\bthe (\w+) with (?:that|this|the given|the same) \1_\w+/g, 'the $1'],
  [/\bdo(?:es)? not (?:fall|go|drop) (?:below|under)\b/g, 'is not below'],
  [/\bdo(?:es)? not (?:go|rise) (?:over|above|beyond)\b/g, 'is not above'],
  [/\b(?:falls|goes|drops) (?:below|under)\b/g, 'is below'],
  [/\b(?:stays?|remains?) (?=at |below|above|under|within|no |not )/g, 'is '],
  [/\bhas not exceeded\b/g, 'does not exceed'],
  [/\b(?:is|are) (?:not|no) (?:greater|larger|higher|older) than\b/g, 'is not above'],
  [/\b(?:is|are) (?:not|no) (?:lower|smaller|fewer|younger) than\b/g, 'is not below'],
  [
    /\b(?:is|are) (?:equal to or|at or) (?:greater than|more than|higher than|larger than|above|over)\b/g,
    'is at least',
  ],
  [
    /\b(?:is|are) (?:equal to or|at or) (?:less than|lower than|smaller than|below|under)\b/g,
    'is at most',
  ],
  [
    /\b(is|are) (\S+) or (?:more|higher|above|greater|over)(?=$|[,;)]| and | or )/g,
    '$1 at least $2',
  ],
  [/\b(is|are) (\S+) or (?:less|fewer|lower|below)(?=$|[,;)]| and | or )/g, '$1 at most $2'],
  [/\bat least as (?:large|high|old|big|much|many|long|great) as\b/g, 'at least'],
  [/\bat most as (?:large|high|old|big|much|many|long|great) as\b/g, 'at most'],
  [
    /\b(?:can cover|is enough for|is sufficient for|suffices for|is large enough for|meets|reaches)\b/g,
    'is at least',
  ],
  [/\b(?:twice as (?:much|many) as|twice|double) (?=the |policy|\w)/g, '2 x '],
  [/\bhalf (?:of )?(?=the |policy)/g, '0.5 x '],
  [/\bthree times (?=the |policy|\w)/g, '3 x '],
  [/\b(policy\.\w+) ?(?:%|percent) of /g, '($1 / 100) x '],
  [/\bis (?:on file|available to us|known to us)\b/g, 'is given'],
  [/\bare on file\b/g, 'are there'],
  [
    /\b(?:the )?(?:customer|user|guest|patient|member|student|client)s? (?:has|have|is|gave|supplied) (?:given|supplied|provided) (?:an? |the )?/g,
    'given ',
  ],
]

/** The sentence in the words of the grammar. */
export function plainly(text: string): string {
  const plain = wordings.reduce((sofar, [pattern, word]) => sofar.replace(pattern, word), text)
  return plain
    .replace(/\b(\d+(?:\.\d+)?) ?(?:%|percent) of /g, (_, figure) => `${Number(figure) / 100} x `)
    .replace(/ {2,}/g, ' ')
}
