import {
  add,
  done,
  has,
  isRecord,
  type LiveTool,
  list,
  login,
  movedDate,
  number,
  record,
  refuse,
  type State,
  text,
  type Value,
  value,
} from './state.ts'

const account = (state: State, args: State) => record(state, 'accounts', text(args, 'username'))
const bookId = (state: State, args: State) =>
  text(state, 'book_title_to_id', text(args, 'book_title'))
const book = (state: State, args: State) => record(state, 'books', bookId(state, args))
const borrowed = (state: State, args: State) => record(account(state, args), 'borrowed')
const lateFee = (state: State, args: State) =>
  number(account(state, args), 'late_book_count') * number(state, 'late_fee_per_book')

const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September'],
  ...['October', 'November', 'December'],
]

/** `October 10th, 2024` as `2024-10-10`. */
function isoDate(date: string): string {
  const found = /^(\w+) (\d+)\w\w, (\d{4})$/.exec(date)
  const month = months.indexOf(found?.[1] ?? '') + 1
  if (found === null || month === 0) return refuse(`'${date}' is no date`)
  return `${found[3]}-${String(month).padStart(2, '0')}-${found[2]?.padStart(2, '0')}`
}

function englishDate(date: string): string {
  const day = Number(date.slice(8, 10))
  const isTeen = day >= 11 && day <= 13
  const ending = (isTeen ? undefined : { 1: 'st', 2: 'nd', 3: 'rd' }[day % 10]) ?? 'th'
  return `${months[Number(date.slice(5, 7)) - 1]} ${day}${ending}, ${date.slice(0, 4)}`
}

const after = (date: string, days: number) => englishDate(movedDate(isoDate(date), days))

export const library: Readonly<Record<string, LiveTool>> = {
  login_user: login('password', 'accounts'),
  logout_user: () => done,
  show_available_book: (state) =>
    Object.entries(record(state, 'book_title_to_id')).flatMap(([title, id]) =>
      typeof id === 'string' && Number(value(state, 'books', id, 'count')) > 0 ? [title] : [],
    ),
  borrow_book(state, args) {
    const due = after(text(state, 'interaction_date'), number(state, 'loan_period'))
    borrowed(state, args)[bookId(state, args)] = due
    add(book(state, args), 'count', -1)
    return done
  },
  return_book(state, args) {
    const id = bookId(state, args)
    const due = isoDate(text(borrowed(state, args), id))
    delete borrowed(state, args)[id]
    add(book(state, args), 'count', 1)
    if (isoDate(text(state, 'interaction_date')) > due)
      add(account(state, args), 'late_book_count', 1)
    return done
  },
  check_return_date: (state, args) => text(borrowed(state, args), bookId(state, args)),
  get_account_balance: (state, args) => number(account(state, args), 'balance'),
  credit_balance(state, args) {
    const amount = number(args, 'amount')
    if (amount <= 0) refuse('amount is not above 0')
    add(account(state, args), 'balance', amount)
    return done
  },
  // The count is not reset: a quirk of the benchmark.
  pay_late_fee(state, args) {
    add(account(state, args), 'balance', -lateFee(state, args))
    return done
  },
  update_membership(state, args) {
    const member = account(state, args)
    const from = value(member, 'membership') ?? text(state, 'interaction_date')
    member.membership = after(text({ from }, 'from'), 30)
    add(member, 'balance', -number(state, 'membership_monthly_fee'))
    return member.membership
  },
  add_book(state, args) {
    if (number(args, 'count') <= 0) refuse('count is not above 0')
    const title = text(args, 'book_title')
    const ids = record(state, 'book_title_to_id')
    const known = value(ids, title)
    const id = typeof known === 'string' ? known : 'NEWBOOK'
    ids[title] = id
    record(state, 'books')[id] = {
      count: value(args, 'count'),
      restricted: value(args, 'restricted'),
    }
    return done
  },
  remove_book(state, args) {
    book(state, args)
    delete record(state, 'books')[bookId(state, args)]
    delete record(state, 'book_title_to_id')[text(args, 'book_title')]
    return done
  },
  show_available_rooms: (state) => record(state, 'rooms'),
  reserve_room(state, args) {
    const id = text(args, 'room_id')
    const date = text(args, 'resv_date')
    const slots = list(args, 'slots')
    const room = record(state, 'rooms', id)
    const reserved = record(account(state, args), 'room_reservation')
    const earlier = reserved[id]
    if (!isRecord(earlier)) reserved[id] = { [date]: [...slots] }
    // A reservation of that room on another date alone keeps this one from being stored: a quirk of the benchmark.
    else if (Array.isArray(earlier[date])) list(earlier, date).push(...slots)
    const free = list(room, date).filter((slot) => !slots.includes(slot))
    if (free.length > 0) room[date] = free
    else delete room[date]
    return done
  },
  internal_get_database: (state) => state,
  internal_check_username_exist: (state, args) => has(state.accounts, args.username),
  internal_convert_book_title_to_id: (state, args) =>
    value(state, 'book_title_to_id', text(args, 'book_title')),
  internal_check_book_exist: (state, args) =>
    has(state.books, value(state, 'book_title_to_id', text(args, 'book_title'))),
  internal_check_book_available: (state, args) => number(book(state, args), 'count') > 0,
  internal_get_user_borrowed: (state, args) => Object.keys(borrowed(state, args)),
  internal_get_user_num_borrowed: (state, args) => Object.keys(borrowed(state, args)).length,
  internal_calculate_late_fee: lateFee,
  internal_get_membership_fee: (state) => number(state, 'membership_monthly_fee'),
  internal_is_restricted: (state, args) => value(book(state, args), 'restricted'),
  internal_get_membership_status: (state, args) => value(account(state, args), 'membership'),
  internal_is_admin: (state, args) => value(account(state, args), 'admin'),
  internal_get_num_reserved_slots: (state, args) =>
    Object.values(record(account(state, args), 'room_reservation'))
      .flatMap((dates) => Object.values(record(dates)))
      .flatMap((slots: Value) => (Array.isArray(slots) ? slots : [])).length,
  internal_check_room_exist: (state, args) => has(state.rooms, args.room_id),
  internal_check_date_available_for_the_room: (state, args) =>
    has(record(state, 'rooms', text(args, 'room_id')), args.resv_date),
  internal_all_slots_available_for_the_room_on_the_date(state, args) {
    const free = list(state, 'rooms', text(args, 'room_id'), text(args, 'resv_date'))
    return list(args, 'slots').every((slot) => free.includes(slot))
  },
  internal_get_interaction_date: (state) => text(state, 'interaction_date'),
  internal_convert_human_date_to_iso: (_, args) => isoDate(text(args, 'date_string')),
  internal_convert_iso_to_human_date: (_, args) => englishDate(text(args, 'iso_date')),
}
