import {
  add,
  done,
  has,
  isRecord,
  type LiveTool,
  login,
  number,
  record,
  refuse,
  text,
  value,
} from './state.ts'

const account = (
  state: Parameters<LiveTool>[0],
  args: Parameters<LiveTool>[1],
  name = 'username',
) => record(state, 'accounts', text(args, name))

function positive(args: Parameters<LiveTool>[1], name = 'amount'): number {
  const amount = number(args, name)
  return amount > 0 ? amount : refuse(`${name} is not above 0`)
}

/** Transfers and exchanges take an amount for dollars unless it is in cents; deposits and bills the other way round. */
const unlessCents = (amount: number, unit: string) =>
  unit.includes('cent') ? amount / 100 : amount
const ifDollars = (amount: number, unit: string) =>
  unit.includes('dollar') ? amount : amount / 100

export const bank: Readonly<Record<string, LiveTool>> = {
  login_user: login('identification', 'accounts'),
  logout_user: () => done,
  authenticate_admin_password: login('admin_password', 'accounts'),
  open_account(state, args) {
    record(state, 'accounts')[text(args, 'username')] = {
      identification: value(args, 'identification'),
      admin_password: value(args, 'admin_password'),
      balance: 0,
      owed_balance: 0,
      safety_box: '',
      credit_cards: {},
    }
    return done
  },
  set_admin_password(state, args) {
    account(state, args).admin_password = text(args, 'admin_password_new')
    return done
  },
  set_account_information(state, args) {
    const accounts = record(state, 'accounts')
    const moved = account(state, args)
    delete accounts[text(args, 'username')]
    accounts[text(args, 'username_new')] = moved
    moved.identification = value(args, 'identification_new')
    return done
  },
  close_account(state, args) {
    delete record(state, 'accounts')[text(args, 'username')]
    return done
  },
  get_account_balance: (state, args) => number(account(state, args), 'balance'),
  transfer_funds(state, args) {
    const dollars = unlessCents(positive(args), text(args, 'unit'))
    add(account(state, args), 'balance', -dollars)
    add(account(state, args, 'destination_username'), 'balance', dollars)
    return done
  },
  deposit_funds(state, args) {
    add(account(state, args), 'balance', ifDollars(positive(args), text(args, 'unit')))
    return done
  },
  pay_bill(state, args) {
    add(account(state, args), 'balance', -ifDollars(positive(args), text(args, 'unit')))
    return done
  },
  pay_bill_with_credit_card(state, args) {
    const amount = positive(args)
    const card = value(account(state, args), 'credit_cards', text(args, 'card_number'))
    if (isRecord(card)) add(card, 'credit_balance', amount)
    return done
  },
  // The card is never stored: a quirk of the benchmark.
  apply_credit_card: () => done,
  cancel_credit_card(state, args) {
    const cards = record(account(state, args), 'credit_cards')
    if (!has(cards, args.card_number)) refuse('there is no such card')
    delete cards[text(args, 'card_number')]
    return done
  },
  exchange_foreign_currency(state, args) {
    const rate = number(state, 'foreign_exchange', text(args, 'foreign_currency_type'))
    return rate * unlessCents(number(args, 'amount'), text(args, 'unit'))
  },
  get_account_owed_balance: (state, args) => number(account(state, args), 'owed_balance'),
  get_loan(state, args) {
    const amount = number(args, 'loan_amount')
    add(account(state, args), 'balance', amount)
    add(account(state, args), 'owed_balance', 1.1 * amount)
    return done
  },
  pay_loan(state, args) {
    const amount = positive(args, 'pay_owed_amount_request')
    add(account(state, args), 'balance', -amount)
    add(account(state, args), 'owed_balance', -amount)
    return done
  },
  get_safety_box: (state, args) => value(account(state, args), 'safety_box'),
  set_safety_box(state, args) {
    account(state, args).safety_box = value(args, 'safety_box_new')
    return done
  },
  get_bank_maximum_loan_amount: (_, args) => Number(args.bank_total_cash ?? 0) / 2,
  get_credit_cards: (state, args) => record(account(state, args), 'credit_cards'),
  get_credit_card_info: (state, args) =>
    record(account(state, args), 'credit_cards', text(args, 'card_number')),
  internal_get_database: (state) => state,
  internal_check_username_exist: (state, args) => has(state.accounts, args.username),
  internal_check_foreign_currency_available: (state, args) =>
    has(state.foreign_exchange, args.foreign_currency_type),
  internal_get_credit_score: (state, args) => number(account(state, args), 'credit_score'),
  internal_check_credit_card_exist: (state, args) =>
    has(record(account(state, args), 'credit_cards'), args.card_number),
}
