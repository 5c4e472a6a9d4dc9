import { judgeReplies } from '../test/support/replies.ts'

/**
 * How many generated replies the check of a reply lets through: none of those with a planted falsehood, and of the true
 * ones all but those in words that it cannot check.
 *
 * `npm run bench:replies -- [COUNT]`, 1,000 by default; half are true and half are false.
 */
const { truths, lies } = judgeReplies(Number(process.argv[2] ?? 1_000))
const passed = lies.filter(({ passes }) => passes)
const refused = truths.filter(({ passes }) => !passes)

console.log(`false replies: ${lies.length}, let through: ${passed.length}`)
const share = ((100 * refused.length) / truths.length).toFixed(1)
console.log(`true replies: ${truths.length}, refused: ${refused.length} (${share} %)`)
for (const { draft } of passed) console.log(draft.map(({ text }) => text).join(' '))
process.exitCode = passed.length === 0 ? 0 : 1
