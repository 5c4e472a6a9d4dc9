import {
  add,
  done,
  has,
  type LiveTool,
  list,
  login,
  number,
  record,
  type State,
  text,
  value,
} from './state.ts'

const student = (state: State, args: State) => record(state, 'students', text(args, 'username'))
const course = (state: State, args: State) => record(state, 'courses', text(args, 'course_code'))

export const university: Readonly<Record<string, LiveTool>> = {
  login_user: login('password', 'students'),
  logout_user: () => done,
  enroll_course(state, args) {
    const entered = course(state, args)
    list(student(state, args), 'enrolled_courses').push(text(args, 'course_code'))
    add(student(state, args), 'current_credits', number(entered, 'credits'))
    add(entered, 'enrolled', 1)
    return done
  },
  drop_course(state, args) {
    const left = course(state, args)
    const who = student(state, args)
    const code = text(args, 'course_code')
    who.enrolled_courses = list(who, 'enrolled_courses').filter((one) => one !== code)
    add(who, 'current_credits', -number(left, 'credits'))
    add(left, 'enrolled', -1)
    return done
  },
  // Nothing is stored: a quirk of the benchmark.
  request_graduation: () => done,
  apply_financial_aid(state, args) {
    add(student(state, args), 'financial_aid_quarters', 1)
    return done
  },
  change_major(state, args) {
    record(state, 'majors', text(args, 'new_major'))
    student(state, args).major = text(args, 'new_major')
    add(student(state, args), 'major_changes', 1)
    return done
  },
  declare_minor(state, args) {
    record(state, 'minors', text(args, 'minor'))
    list(student(state, args), 'minors').push(text(args, 'minor'))
    return done
  },
  internal_check_username_exists: (state, args) => has(state.students, args.username),
  internal_check_course_exists: (state, args) => has(state.courses, args.course_code),
  internal_get_student_info: student,
  internal_get_course_info: course,
  internal_get_academic_calendar: (state) => record(state, 'academic_calendar'),
  internal_get_major_info: (state, args) => record(state, 'majors', text(args, 'major')),
  internal_get_minor_info: (state, args) => record(state, 'minors', text(args, 'minor')),
  internal_check_minor_exists: (state, args) => has(state.minors, args.minor),
  internal_check_major_exists: (state, args) => has(state.majors, args.major),
  internal_get_interaction_time: (state) => text(state, 'interaction_time'),
  internal_get_database: (state) => state,
  internal_get_number_of_students_for_major(state, args) {
    record(state, 'majors', text(args, 'major'))
    const students = Object.values(record(state, 'students'))
    return students.filter((one) => value(one, 'major') === args.major).length
  },
}
