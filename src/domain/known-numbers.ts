import type { Span } from './token-pattern.ts'

/** Words that say what a number counts or measures, in a folded text. */
const units =
  'DAYS?|NIGHTS?|WEEKS?|WEEKDAYS?|WORKDAYS?|MONTHS?|YEARS?|HOURS?|HRS?|MINUTES?|MINS?|SECONDS?|SECS?|TIMES?|X|' +
  'ITEMS?|PIECES?|PCS|PAIRS?|UNITS?|PEOPLE|PERSONS?|PAYMENTS?|CHARGES?|TRANSACTIONS?|ORDERS?|REFUNDS?|PURCHASES?|' +
  'PARCELS?|PACKAGES?|BOXES|BOOKS?|SHIRTS?|SHOES?|TICKETS?|E-?MAILS?|MESSAGES?|CALLS?|ATTEMPTS?|TRIES|' +
  'DEVICES?|CARDS?|ACCOUNTS?|STORES?|CUSTOMERS?|STARS?|POINTS?|KG|KILOS?|GRAMS?|LBS?|KM|CM|MM|MILES?|INCH(?:ES)?'

const currencySigns = '[$€£¥₹₩₽₺₴₫฿¢]'
const currencyNames =
  'USD|EUR|GBP|CHF|CAD|AUD|NZD|JPY|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|RON|BRL|MXN|ZAR|SGD|HKD|TRY|ILS|AED|KRW|' +
  'DOLLARS?|BUCKS?|EUROS?|POUNDS?|QUID|CENTS?|PENCE|YEN|RUPEES?|FRANCS?|KRONER|KRONOR|ZLOTYS?'
/** What a currency is called, as alternatives of a regular expression over a folded text. */
export const currency = `${currencySigns}|${currencyNames}`

/** What may stand beside a number and say what it measures. */
export const measures =
  `${currency}|${units}|%|‰|°|PERCENT|PER ?CENT|K|M|BN|MIO|TSD|THOUSANDS?|GRAND|MILLIONS?|BILLIONS?|HUNDREDS?|DOZENS?|` +
  'CT|CTS|C|P|H|MIN|S|G|LB|OZ|L|ML|GB|MB'

const month =
  '(?:JAN(?:UARY)?|FEB(?:RUARY)?|MAR(?:CH)?|APR(?:IL)?|MAY|JUNE?|JULY?|AUG(?:UST)?|SEPT?(?:EMBER)?|OCT(?:OBER)?|' +
  'NOV(?:EMBER)?|DEC(?:EMBER)?)'
const day = '[0-9]{1,2}(?:ST|ND|RD|TH)?'
const amount = '(?:[1-9][0-9]{0,2}(?:[,. ][0-9]{3}){1,3}|0|[1-9][0-9]{0,8})(?:[.,][0-9]{1,2})?'

/** Numbers whose form, or what stands around them, says that they are no ids. None of them can match very long. */
const forms: readonly string[] = [
  // Dates and times.
  '[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}(?:T[0-9:.]{5,12}Z?)?',
  '[0-9]{1,2}[-/.][0-9]{1,2}[-/.](?:[0-9]{4}|[0-9]{2})',
  '[0-9]{1,2}/[0-9]{1,2}',
  '[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?: ?[AP]M)?',
  '[0-9]{1,2} ?(?:[AP]M|UHR|O.CLOCK)',
  `${day} (?:OF )?${month}(?:,? (?:19|20)[0-9]{2})?`,
  `${month}\\.? ${day}(?:,? (?:19|20)[0-9]{2})?`,
  `${month},? (?:19|20)[0-9]{2}`,
  '[0-9]{1,2}(?:ST|ND|RD|TH)',
  '(?:IN|SINCE|FROM|OF|YEAR|UNTIL|TILL|BY|DURING|BEFORE|AFTER|LAST|EARLY|LATE) (?:19|20)[0-9]{2}',
  // Money, shares and counts.
  `(?:${currencySigns}|(?:${currencyNames}|RS|KR)\\.?) ?${amount}`,
  `${amount} ?(?:${currencySigns}|%|‰|°|(?:${currencyNames}|PERCENT|PER CENT|KR))`,
  '[0-9]{1,9}[.,][0-9]{2}',
  `(?:0|[1-9][0-9]{0,8})(?:[.,][0-9]{1,2})?[ -]?(?:[A-Z]{2,20} )?(?:${units})`,
  // Telephones and cards.
  '\\+[0-9]{1,3}(?:[ .-]?\\(?[0-9]{1,5}\\)?){2,5}',
  '\\([0-9]{2,5}\\)[ -]?[0-9]{3,5}[ .-]?[0-9]{3,5}',
  '[0-9]{3}[-. ][0-9]{3}[-. ][0-9]{4}',
  '(?:PHONE|CALL|TEL|TELEPHONE|MOBILE|CELL|WHATSAPP|FAX)(?: (?:ME|US|IS|NUMBER|NO|ON|AT)){0,3}[ .:]{1,3}[0-9]{3,5}(?:[ .-][0-9]{2,5}){1,4}',
  '(?:CARD|VISA|MASTERCARD|AMEX|MAESTRO|DEBIT|CREDIT)(?:[ (]{1,2}[A-Z]{1,10}){0,3}[ :*X.#(-]{1,8}[0-9]{4}',
  // Versions, places and codes of errors.
  '(?:IOS|ANDROID|IPHONE|PIXEL|GALAXY|WINDOWS|MACOS|CHROME|FIREFOX|SAFARI|EDGE|VERSION|APP|V)[ .]?[1-9][0-9]{0,3}(?:\\.[0-9]{1,4}){0,3}',
  '(?:ERROR|STATUS|HTTP|FLAT|APT|APARTMENT|SUITE|ROOM|FLOOR|PAGE|STEP|AGE|AGED)(?: CODE| NUMBER| NO\\.?)?[ :]{1,2}[1-9][0-9]{0,3}',
]

const known = new RegExp(
  `(?<![\\p{L}\\p{N}]|[0-9][.,:/-])(?:${forms.map((form) => `(?:${form})`).join('|')})(?![\\p{L}\\p{N}]|[.,:/-][0-9])`,
  'gu',
)

/** Numbers of another kind than ids in a text. */
export interface KnownNumbers {
  /** The one in which a part of the text ends, wherever it begins. */
  readonly endOf: (part: Span) => Span | undefined
}

/**
 * The parts of a folded text that are numbers of another kind than ids: dates, times, amounts with their currency,
 * shares, counts of something, telephone numbers.
 */
export function knownNumbers(text: string): KnownNumbers {
  const numbers = Array.from(text.matchAll(known), ({ 0: found, index }) => ({
    start: index,
    end: index + found.length,
  }))
  return {
    endOf({ end }) {
      // They are disjoint and in order, so only the first that does not end before it can hold it.
      let low = 0
      let high = numbers.length
      while (low < high) {
        const middle = (low + high) >>> 1
        if ((numbers[middle]?.end ?? end) < end) low = middle + 1
        else high = middle
      }
      const number = numbers[low]
      return number !== undefined && number.start < end ? number : undefined
    },
  }
}
