import Accounts
import Testing

@testable import IdentityAPI

/// The texts of mails with codes.
@Suite struct MailTextTests {
    private static func code(_ number: Int, _ reference: String, _ purpose: EmailVerification.Purpose = .registration) -> MailedCode {
        MailedCode(code: "\(number)", reference: reference, purpose: purpose)
    }

    @Test func `one code has its reference`() {
        #expect(
            MailText([Self.code(123_456, "KFTM")], hasAccount: false)
                == MailText(
                    "123456 is your code",
                    [
                        "This address was used to sign up.",
                        "Your code is 123456. It is valid for 10 minutes. Enter it in the app that you asked for it, if it shows the "
                            + "reference KFTM.",
                        "If you did not ask for it, ignore this mail, and do not pass the code on: without it nothing happens.",
                    ]))
    }

    @Test func `several codes are a list by what they are for`() {
        let text = MailText(
            [Self.code(123_456, "KFTM"), Self.code(222_222, "BCDF", .enrolment), Self.code(333_333, "ZWXV", .emailChange)],
            hasAccount: false)
        #expect(text.subject == "Your codes")
        #expect(
            text.body == """
                Several codes were asked for. Your app shows a reference of four letters: enter the code that stands beside it.

                This address was used to sign up.

                KFTM   123456
                BCDF   222222

                This address was named as the new e-mail address of an account.

                ZWXV   333333

                A code is valid for 10 minutes after the first mail that has it.

                You did not ask for the codes beside other references. Do not pass any of them on: without them nothing happens.

                """)
    }

    @Test func `the mail to an address with an account has the codes that recover it, and says that it has one`() {
        let one = MailText([Self.code(222_222, "BCDF", .enrolment), Self.code(123_456, "KFTM")], hasAccount: true)
        #expect(one.subject == "Somebody signed up with your address")
        #expect(one.body.contains("code: 123456. It is valid for 10 minutes, in the app that shows the reference KFTM."))
        #expect(!one.body.contains("222222"))
        let two = MailText([Self.code(222_222, "BCDF"), Self.code(123_456, "KFTM")], hasAccount: true)
        #expect(two.body.contains("it has an account already") && two.body.contains("BCDF   222222\nKFTM   123456\n\n"))
    }

    @Test(arguments: [EmailVerification.Purpose.enrolment, .emailChange])
    func `a mail to an address with an account has no code that would have no effect`(purpose: EmailVerification.Purpose) {
        let text = MailText([Self.code(123_456, "KFTM", purpose)], hasAccount: true)
        #expect(text.subject == "Somebody used your address" && !text.body.contains("123456"))
    }
}
