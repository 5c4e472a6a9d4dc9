import {
  done,
  has,
  isRecord,
  type LiveTool,
  list,
  login,
  number,
  record,
  refuse,
  type State,
  text,
  value,
} from './state.ts'

const account = (state: State, args: State) => record(state, 'accounts', text(args, 'username'))
const details = (state: State, args: State) => record(account(state, args), 'policy', 'details')
const claims = (state: State, args: State) => list(account(state, args), 'policy', 'claims')
const provider = (state: State, args: State) =>
  record(state, 'providers', text(args, 'provider_id'))

function claim(state: State, args: State): State {
  const found = claims(state, args).find((one) => value(one, 'claim_id') === args.claim_id)
  return isRecord(found) ? found : refuse('there is no such claim')
}

function notNegative(args: State, name: string): number {
  const amount = number(args, name)
  return amount >= 0 ? amount : refuse(`${name} is below 0`)
}

export const healthcare: Readonly<Record<string, LiveTool>> = {
  login_user: login('identification', 'accounts'),
  logout_user: () => done,
  update_policy(state, args) {
    const coverage = notNegative(args, 'coverage_amount')
    const income = notNegative(args, 'annual_income')
    Object.assign(details(state, args), {
      type: text(args, 'policy_type'),
      coverage_amount: coverage,
      annual_income: income,
    })
    return done
  },
  submit_claim(state, args) {
    provider(state, args)
    const amount = notNegative(args, 'amount')
    const filed = claims(state, args)
    filed.push({
      claim_id: `CLM-${filed.length + 1}`,
      amount,
      status: 'pending',
      description: value(args, 'description'),
      provider_id: text(args, 'provider_id'),
      claim_date: text(state, 'interaction_time'),
    })
    return done
  },
  get_policy_details: (state, args) =>
    has(state.accounts, args.username) ? details(state, args) : {},
  get_claim_details: claim,
  get_provider_details: provider,
  add_authorized_provider(state, args) {
    provider(state, args)
    list(details(state, args), 'authorized_providers').push(text(args, 'provider_id'))
    return done
  },
  get_claim_history: (state, args) =>
    has(state.accounts, args.username) ? claims(state, args) : [],
  deactivate_policy(state, args) {
    const policy = record(account(state, args), 'policy')
    policy.details = {
      type: 'Inactive',
      coverage_amount: 0,
      enrollment_date: '',
      authorized_providers: [],
      annual_income: 0,
    }
    policy.claims = []
    return done
  },
  reactivate_policy(state, args) {
    const coverage = notNegative(args, 'coverage_amount')
    record(account(state, args), 'policy').details = {
      type: text(args, 'policy_type'),
      coverage_amount: coverage,
      enrollment_date: text(state, 'interaction_time'),
      authorized_providers: [],
      annual_income: value(args, 'annual_income'),
    }
    return done
  },
  appeal_claim(state, args) {
    claim(state, args).status = 'pending'
    return done
  },
  schedule_appointment(state, args) {
    const office = provider(state, args)
    const booked = list(account(state, args), 'scheduled_appointments')
    const id = `APT-${booked.length + 1}`
    const when = { appointment_id: id, appointment_date: text(args, 'appointment_date') }
    booked.push({ ...when, provider_id: text(args, 'provider_id') })
    list(office, 'appointments').push({ ...when, username: text(args, 'username') })
    return done
  },
  internal_get_database: (state) => state,
  internal_check_username_exist: (state, args) => has(state.accounts, args.username),
  internal_check_provider_exists: (state, args) => has(state.providers, args.provider_id),
  internal_check_claim_exists: (state, args) =>
    claims(state, args).some((one) => value(one, 'claim_id') === args.claim_id),
  internal_get_interaction_time: (state) => text(state, 'interaction_time'),
}
